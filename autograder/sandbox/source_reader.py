"""Ask a sandboxed process about submitted source code, which the grader itself never parses.

The process runs `autograder/parsing/` within limits for time and memory. It never runs the code, and it can read no
submission: it gets the bytes of each request, and only plain data comes back.
"""

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from autograder.core.archives import SkippedFile
from autograder.core.text import clean
from autograder.errors import UsageError
from autograder.sandbox.call_timer import Deadline
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX
from autograder.sandbox.probe import SandboxUnavailable, strongest_level
from autograder.sandbox.process import start_workers
from autograder.sandbox.student_process import ResourceUsage, StudentProcess, WorkerTimedOut
from autograder.sandbox.workers import WorkerDied, Workers, WorkerUnavailable

# Of one submission. The notebooks of the whole course take 0.1 s of CPU time; a busy machine may need longer for it.
LIMITS = Limits(30.0, submission_seconds=30.0, cpu_seconds=5.0, memory_bytes=1 << 30, result_bytes=16 << 20)
RENEW_SECONDS = 0.5
NO_FOLDER = Path(os.devnull)
T = TypeVar("T")
_NO_ANSWER = "it cannot be read: its process sent something that is not an answer"


@contextmanager
def source_reader() -> Iterator["SourceReader"]:
    """Return a reader for submissions that are not graded, in the strongest sandbox of this machine.

    Reading runs no code, so where there is no sandbox, a process of its own with limits must do.
    """
    with tempfile.TemporaryDirectory(prefix="headway-") as root:
        try:
            sandbox = strongest_level(Path(root))
        except SandboxUnavailable:
            sandbox = NO_SANDBOX
        with start_workers(sandbox=sandbox) as workers, closing(SourceReader(workers)) as reader:
            yield reader


@dataclass(frozen=True)
class DefiningCell:
    """A cell of a submitted notebook, and those of the requested functions that it defines."""

    kind: str  # "code" or "markdown"
    source: str
    defines: tuple[str, ...]


class SourceReader:
    """Answers questions about source code. Every method may raise SkippedFile with the reason.

    The process starts with the first question. It is asked about one submission after another, because it runs none of
    their code, and replaced when one of them has cost it more than a moment: what cannot be read is always the finding
    of a new process.
    """

    def __init__(self, workers: Workers, limits: Limits = LIMITS) -> None:
        self._workers, self._limits = workers, limits
        self._usage = ResourceUsage()
        self._process = StudentProcess(workers, NO_FOLDER, limits, self._usage)
        self._spent = ResourceUsage()  # by this submission
        self._is_shared = False  # whether the process has answered questions about earlier submissions
        self._time_is_used_up = False  # by this submission

    def next_submission(self) -> ResourceUsage:
        """Begin with another submission, which has time of its own; return what this one has used."""
        spent, self._spent = self._spent, ResourceUsage()
        self._time_is_used_up = False
        if self._usage.seconds > RENEW_SECONDS:
            self._renew()
        self._is_shared = self._usage.seconds > 0
        return spent

    def notebook_modules(self, content: bytes, course: Mapping[str, Sequence[str]], name: str = "") -> dict[str, bytes]:
        """Return the modules in a notebook by file name; `course` has the names of the functions by module."""
        names = {module: list(functions) for module, functions in course.items()}
        found = self._ask_dict(bytes, "read_modules", content=content, course=names, name=name)
        if not found.keys() <= {f"{module}.py" for module in course}:
            raise SkippedFile(_NO_ANSWER)
        return found

    def notebook_cells(self, content: bytes, functions: Collection[str]) -> list[DefiningCell]:
        """Return the code and Markdown cells of a notebook, each with the functions that it defines."""
        cells = self._ask("defining_cells", content=content, functions=sorted(functions))
        if not isinstance(cells, list):
            raise SkippedFile(_NO_ANSWER)
        return [_defining_cell(cell, functions) for cell in cells]

    def used_functions(self, content: bytes, names: Sequence[str]) -> dict[str, set[str]]:
        """Return which of the named functions of a module call which others; {} if it is not Python."""
        found = self._ask_dict(list, "used_functions", content=content, names=list(names))
        return {name: set(names).intersection(_texts(found[name])) for name in names if name in found}

    def written_functions(self, content: bytes, names: Sequence[str]) -> dict[str, str]:
        """Return a digest of each of the named functions of a module that is more than a stub."""
        found = self._ask_dict(str, "written_functions", content=content, names=list(names))
        return {name: clean(found[name], 16) for name in names if name in found}

    def filtered_code(self, sources: Mapping[str, bytes]) -> dict[str, str]:
        """Return the code of each source as the comparison of submissions needs it, by the same keys."""
        found = self._ask_dict(bytes, "filtered_code", sources=dict(sources))
        if found.keys() != sources.keys():
            raise SkippedFile(_NO_ANSWER)
        return {name: text.decode("utf-8", "replace") for name, text in found.items()}

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _renew(self) -> None:
        self._process.close()
        self._usage = ResourceUsage()
        self._process = StudentProcess(self._workers, NO_FOLDER, self._limits, self._usage)

    def _ask_dict(self, kind: type[T], operation: str, **arguments: Any) -> dict[str, T]:
        """Return an answer that must be a dict with values of one type."""
        found = self._ask(operation, **arguments)
        if not isinstance(found, dict) or not all(isinstance(value, kind) for value in found.values()):
            raise SkippedFile(_NO_ANSWER)
        return found

    def _ask(self, operation: str, **arguments: Any) -> Any:
        request = {"op": "parse", "operation": operation, "arguments": arguments, "handles": {}}
        if self._time_is_used_up:
            raise SkippedFile(self._too_slow)
        try:
            reply = self._request(request)
        except SkippedFile:
            if not self._is_shared:
                raise
            self._renew()
            self._is_shared = self._time_is_used_up = False
            reply = self._request(request)
        if reply.get("status") != "returned":
            raise SkippedFile(clean(str(reply.get("message")), 300) or _NO_ANSWER)
        return reply.get("value")

    @property
    def _too_slow(self) -> str:
        seconds = f"{self._limits.cpu_seconds:g} s of CPU time"
        return f"it cannot be read: reading a submission may take {seconds}, and it takes more"

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply of the process; raise SkippedFile if it gave none."""
        seconds, cpu_seconds = self._usage.seconds, self._process.cpu_seconds
        try:
            return self._process.request(request, Deadline.fixed(self._limits.call_seconds))
        except WorkerTimedOut:
            self._time_is_used_up = True
            raise SkippedFile(self._too_slow) from None
        except WorkerUnavailable as error:
            problem = f"cannot start a process that reads submissions ({clean(error, 300)})"
            raise UsageError(f"{problem}. To see what is missing: headway doctor") from None
        except WorkerDied as error:
            self._time_is_used_up = "SIGXCPU" in str(error)  # the signal with which the system ends such a process
            died = f"it cannot be read: {clean(error, 300)}"
            raise SkippedFile(self._too_slow if self._time_is_used_up else died) from None
        finally:
            self._spent.seconds += self._usage.seconds - seconds
            self._spent.cpu_seconds += self._process.cpu_seconds - cpu_seconds


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _defining_cell(cell: Any, functions: Collection[str]) -> DefiningCell:
    if not isinstance(cell, dict) or cell.get("kind") not in ("code", "markdown"):
        raise SkippedFile(_NO_ANSWER)
    if not isinstance(source := cell.get("source"), bytes):
        raise SkippedFile(_NO_ANSWER)
    defines = tuple(name for name in _texts(cell.get("defines")) if name in functions)
    return DefiningCell(cell["kind"], source.decode("utf-8", "replace"), defines)

"""Ask a sandboxed process about submitted source code, which the grader itself never parses.

The process runs `autograder/parsing/` within limits for time and memory. It never runs the code, and it can read no
submission: it gets the bytes of each request, and only plain data comes back.
"""

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autograder.core.text import clean
from autograder.core.zip_archive import SkippedFile
from autograder.errors import UsageError
from autograder.sandbox.call_timer import Deadline
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX
from autograder.sandbox.probe import SandboxUnavailable, strongest_level
from autograder.sandbox.process import WorkerDied, Workers, WorkerUnavailable
from autograder.sandbox.session import Session, WorkerTimedOut

# Of one submission. The notebooks of the whole course take 0.1 s of CPU time; a busy machine may need longer for it.
LIMITS = Limits(30.0, submission_seconds=30.0, cpu_seconds=5.0, memory_bytes=1 << 30, result_bytes=16 << 20)
NO_FOLDER = Path(os.devnull)
_NO_ANSWER = "it cannot be read: its process sent something that is not an answer"


@contextmanager
def reading_workers() -> Iterator[Workers]:
    """Start a server for reading submissions without grading them, in the strongest sandbox of this machine.

    Reading runs no code, so where there is no sandbox, a process of its own with limits must do.
    """
    with tempfile.TemporaryDirectory(prefix="headway-") as root:
        try:
            sandbox = strongest_level(Path(root))
        except SandboxUnavailable:
            sandbox = NO_SANDBOX
        with Workers(sandbox=sandbox) as workers:
            yield workers


@dataclass(frozen=True)
class DefiningCell:
    """A cell of a submitted notebook, and those of the requested functions that it defines."""

    kind: str  # "code" or "markdown"
    source: str
    defines: tuple[str, ...]


class SourceReader:
    """Answers questions about the source code of one submission. Every method may raise SkippedFile with the reason.

    The process starts with the first question, and ends with `close`.
    """

    def __init__(self, workers: Workers, limits: Limits = LIMITS) -> None:
        self._session, self._limits = Session(workers, NO_FOLDER, limits), limits
        self._time_is_used_up = False

    def notebook_modules(self, content: bytes, course: Mapping[str, Sequence[str]], name: str = "") -> dict[str, bytes]:
        """Return the modules in a notebook by file name; `course` has the names of the functions by module."""
        names = {module: list(functions) for module, functions in course.items()}
        found = self._ask("read_modules", content=content, course=names, name=name)
        if not isinstance(found, dict) or not all(str(file).removesuffix(".py") in course for file in found):
            raise SkippedFile(_NO_ANSWER)
        return {file: _bytes(text) for file, text in found.items()}

    def notebook_cells(self, content: bytes, functions: Collection[str]) -> list[DefiningCell]:
        """Return the code and Markdown cells of a notebook, each with the functions that it defines."""
        cells = self._ask("defining_cells", content=content, functions=sorted(functions))
        if not isinstance(cells, list):
            raise SkippedFile(_NO_ANSWER)
        return [_defining_cell(cell, functions) for cell in cells]

    def used_functions(self, content: bytes, names: Sequence[str]) -> dict[str, set[str]]:
        """Return which of the named functions of a module call which others; {} if it is not Python."""
        found = self._ask("used_functions", content=content, names=list(names))
        if not isinstance(found, dict) or not all(isinstance(used, list) for used in found.values()):
            raise SkippedFile(_NO_ANSWER)
        return {name: set(names).intersection(_texts(found[name])) for name in names if name in found}

    def filtered_code(self, sources: Mapping[str, bytes]) -> dict[str, str]:
        """Return the code of each source as the comparison of submissions needs it, by the same keys."""
        found = self._ask("filtered_code", sources=dict(sources))
        if not isinstance(found, dict) or found.keys() != sources.keys():
            raise SkippedFile(_NO_ANSWER)
        return {name: _bytes(text).decode("utf-8", "replace") for name, text in found.items()}

    def close(self) -> None:
        """End the process."""
        self._session.close()

    def _ask(self, operation: str, **arguments: Any) -> Any:
        seconds = f"{self._limits.cpu_seconds:g} s of CPU time"
        too_slow = SkippedFile(f"it cannot be read: reading a submission may take {seconds}, and it takes more")
        if self._time_is_used_up:
            raise too_slow
        request = {"op": "parse", "operation": operation, "arguments": _as_arrays(arguments)}
        try:
            reply = self._session.request({**request, "handles": {}}, Deadline.fixed(self._limits.call_seconds))
        except WorkerTimedOut:
            self._time_is_used_up = True
            raise too_slow from None
        except WorkerUnavailable as error:
            problem = f"cannot start a process that reads submissions ({clean(error, 300)})"
            raise UsageError(f"{problem}. To see what is missing: headway doctor") from None
        except WorkerDied as error:
            self._time_is_used_up = "SIGXCPU" in str(error)  # the signal with which the system ends such a process
            died = SkippedFile(f"it cannot be read: {clean(error, 300)}")
            raise (too_slow if self._time_is_used_up else died) from None
        if reply.get("status") != "returned":
            raise SkippedFile(clean(str(reply.get("message")), 300) or _NO_ANSWER)
        return reply.get("value")


def _as_arrays(value: Any) -> Any:
    """Return arguments with arrays in place of bytes, which frames cannot hold."""
    if isinstance(value, dict):
        return {key: _as_arrays(item) for key, item in value.items()}
    return np.frombuffer(value, np.uint8) if isinstance(value, bytes) else value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, np.ndarray) or value.dtype != np.uint8:
        raise SkippedFile(_NO_ANSWER)
    return value.tobytes()


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _defining_cell(cell: Any, functions: Collection[str]) -> DefiningCell:
    if not isinstance(cell, dict) or cell.get("kind") not in ("code", "markdown"):
        raise SkippedFile(_NO_ANSWER)
    defines = tuple(name for name in _texts(cell.get("defines")) if name in functions)
    return DefiningCell(cell["kind"], _bytes(cell.get("source")).decode("utf-8", "replace"), defines)

"""Run student code in the same interpreter, for a browser: Pyodide has no processes.

Nothing isolates the student's code here. It can read the expected answers, it can end or break the interpreter, and a
loop in it is not stopped (`web/browser/` does). This is right for somebody who checks their own code, and wrong for
grades: no command, and nothing in `autograder.classroom`, can choose these workers (import-linter holds that).

The requests and answers, and the code that answers them (`child/serve.py`), are those of a student process. What
student code changes in the interpreter is undone after each request (`interpreter_state.py`), also if it replaces
functions of NumPy or of the standard library. Changes inside objects are not undone, and neither are changes in modules
that are not watched: they can make later checks wrong until the page is loaded again, which only hurts the student.
"""

import functools
import importlib.util
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import IO

from autograder.core import wire_format
from autograder.sandbox.interpreter_state import InterpreterState
from autograder.sandbox.policy import NO_SANDBOX, SandboxPolicy
from autograder.sandbox.server import CHILD_FOLDER, PARSING_FOLDER
from autograder.sandbox.workers import ExitStatus, Process, Workers

IN_PROCESS = "in-process"


class InProcessWorkers(Workers):
    """Starts "processes" that run in this interpreter; any number may exist at once, each ended by its user."""

    def __init__(self, sandbox: SandboxPolicy = NO_SANDBOX, process: "Callable[..., InProcess] | None" = None) -> None:
        if sandbox != NO_SANDBOX:
            raise ValueError("untrusted code needs a process of its own: code that runs in-process has no sandbox")
        super().__init__(sandbox)
        self.layers = [IN_PROCESS]
        self._process = process or InProcess

    def start(self, folders: list[str], limits: dict[str, int], output: IO[bytes]) -> "InProcess":
        """Start a process for a submission, which prints to `output`."""
        return self._process(folders, limits, output)


class InProcess(Process):
    """A student "process" that answers a request when its answer is asked for. Its limits of memory do not hold."""

    def __init__(self, folders: list[str], limits: dict[str, int], output: IO[bytes]) -> None:
        self._serve = _load_child()
        self._result_bytes = limits["result_bytes"]
        self._state = InterpreterState(folders, output, limits["output_bytes"])
        self._request: bytes | None = None  # that is not answered yet
        self._answer = io.BytesIO()
        self._cpu_seconds = 0.0

        def start() -> bytes:
            self._submission = self._serve.Submission(folders)
            return b""

        self._state.run(start)

    def send(self, frame: bytes) -> None:
        """Keep a request for `receive`; raise OSError if the process has ended."""
        if self._state.exit_code is not None:
            raise BrokenPipeError
        self._request = frame

    def receive(self, count: int, seconds_to_wait: Callable[[], float]) -> bytes:
        """Return the next `count` bytes of the answer; raise EOFError if the process has ended."""
        if self._request is not None:
            frame, self._request = self._request, None
            frames, started = self._serve.frames, time.process_time()
            frames.MAX_BODY = self._result_bytes
            answer = self._state.run(lambda: self._serve.answer(self._submission, frames.unpack(frame)))
            self._answer = io.BytesIO(answer)
            self._cpu_seconds += time.process_time() - started
        data = self._answer.read(count)
        if self._state.exit_code is not None or len(data) < count:
            raise EOFError
        return data

    def interrupt(self) -> None:
        """Do nothing: there is no other thread."""

    def end(self) -> ExitStatus:
        """Forget the submission's modules and values; return the code of `os._exit`."""
        self._state.end()
        self._answer = io.BytesIO()
        return ExitStatus(self._state.exit_code or 0, self._cpu_seconds)


@functools.cache
def _load_child() -> ModuleType:
    """Load the files of the student's side by their paths, under the names that they have in a process."""
    for name, path in (
        ("_headway_frames", Path(wire_format.__file__)),  # a second copy, whose limits are those of the student's side
        ("_headway_parsing", PARSING_FOLDER / "__init__.py"),
        ("_headway_training", CHILD_FOLDER / "training.py"),
        ("_headway_pretrained", CHILD_FOLDER / "pretrained.py"),
        ("_headway_serve", CHILD_FOLDER / "serve.py"),
    ):
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module

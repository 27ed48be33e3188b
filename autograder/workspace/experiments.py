"""The experiments at the end of lessons: their names, and what is shown of a program that ran one."""

import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path

import autograder
from autograder.core.text import clean
from autograder.course import Curriculum
from autograder.course.stubs import experiment_name
from autograder.workspace.file_cells import split_cells
from autograder.workspace.files import stub_text
from autograder.workspace.workspace import Workspace

OUTPUT_BYTES = 64 << 10  # of what a program prints; the middle of longer output is left out
ERROR_BYTES = 16 << 10
_PACKAGE = os.path.dirname(autograder.__file__) + os.sep
_TRACEBACK = "Traceback (most recent call last):\n"
_FRAME = re.compile(r'  File "([^"\n]*)", line \d+, in .*\n(?:(?!  File )(?:    |  \[).*\n)*')
_NOT_WRITTEN = re.compile(r"NotImplementedError: (\w+\.\w+)")


@dataclass(frozen=True)
class ExperimentRun:
    """What a program printed, how long it ran, and why it ended early; empty if it did not."""

    output: str
    seconds: float
    error: str


def names(module: str, curriculum: Curriculum) -> list[str]:
    """Return the names of an assignment's experiments; "" is the one that runs without a name."""
    cells = split_cells(stub_text(module, curriculum))
    return [name for cell in cells if (name := experiment_name(cell.text)) is not None]


def program(workspace: Workspace, module: str, name: str) -> list[str]:
    """Return the arguments with which Python runs an experiment on the versions that count."""
    folder = workspace.module_folder
    file = f"{module}.py" if folder == workspace.folder else str(folder / f"{module}.py")
    return [file, *([name] if name else [])]


class CappedOutput:
    """Keeps the beginning and the end of what is written to it. It can be the file of an `InterpreterState`, too."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._lock = threading.Lock()
        self._start, self._end = bytearray(), bytearray()
        self._left_out = 0

    def write(self, data: bytes) -> int:
        """Take all of the data."""
        with self._lock:
            room = self._half - len(self._start)
            self._start += data[:room]
            self._end += data[room:]
            if (excess := len(self._end) - self._half) > self._half:  # Bytes are moved now and then, not every time.
                del self._end[:excess]
                self._left_out += excess
        return len(data)

    def seek(self, position: int, whence: int = 0) -> int:
        """Return 0: there is always room."""
        return 0

    def flush(self) -> None:
        """Do nothing."""

    def text(self) -> str:
        """Return what was kept as text that is safe to show."""
        with self._lock:
            excess = max(0, len(self._end) - self._half)
            start, end = bytes(self._start), bytes(self._end[excess:])
            left_out = self._left_out + excess
        middle = f"\n… {left_out:,} bytes are left out …\n".encode() if left_out else b""
        return clean((start + middle + end).decode("utf-8", "replace").replace("\r\n", "\n"), 2 * self._half + 100)


def explain_errors(errors: str, code: int, folder: Path, curriculum: Curriculum) -> tuple[str, str]:
    """Return the warnings in a program's stream of errors, and why it ended with another code than 0."""
    # Without a traceback, all of it may say why.
    start = len(errors) if code == 0 else max(errors.find(_TRACEBACK), 0)
    return errors[:start], explain_error(errors[start:], folder, curriculum)


def explain_error(error: str, folder: Path, curriculum: Curriculum) -> str:
    """Return a traceback with the student's own lines; one line for a function that is not written."""
    error = error.strip()
    found = _NOT_WRITTEN.fullmatch(error.rpartition("\n")[2])
    if found and found[1] in curriculum.functions:
        return f"{found[0]}. Write it first."
    hidden = _PACKAGE, "<frozen "  # the files of Headway, and a part of Python itself that runs a program
    shown = _FRAME.sub(lambda frame: "" if frame[1].startswith(hidden) else frame[0], f"{error}\n")
    return shown.replace(f"{folder}{os.sep}", "").strip()

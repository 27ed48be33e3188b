"""What the trusted half needs of the processes that run student code, however they are made.

`process.py` forks and spawns real processes, reached over sockets. `in_process.py` runs student code in this very
interpreter, for a browser, where there are no processes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, NamedTuple

from autograder.sandbox.call_timer import Activity
from autograder.sandbox.policy import SandboxPolicy


class WorkerDied(Exception):
    """The student's process ended, or sent something that is not a frame; the text says how."""


class WorkerUnavailable(WorkerDied):
    """No student process can be started at all; no submission is at fault."""


class ExitStatus(NamedTuple):
    """How a process ended: its exit code, or minus the signal's number; its CPU time and its largest memory."""

    code: int
    cpu_seconds: float
    memory_bytes: int = 0


class Process(ABC):
    """The running process of one submission, which answers each frame with one frame."""

    pid: int | None = None  # its number for this process, if it has one

    @abstractmethod
    def send(self, frame: bytes) -> None:
        """Send a request; raise OSError if the process has ended, TimeoutError if it does not accept it."""

    @abstractmethod
    def receive(self, count: int, seconds_to_wait: Callable[[], float]) -> bytes:
        """Return exactly `count` bytes of the answer; raise EOFError or OSError if the process has ended.

        `seconds_to_wait` is asked before each wait how long it may be, and raises TimeoutError at the deadline.
        """

    def activity(self) -> Activity | None:
        """Return what the process has used so far, or None where this system cannot tell."""
        return None

    @abstractmethod
    def interrupt(self) -> None:
        """From another thread: make the current `receive` end at once, as if the process had died."""

    def traceback(self) -> str:
        """Return what the process says about where it is, in the form of `faulthandler`; empty where it cannot.

        The process must be ended afterwards. The text is untrusted: student code can write anything.
        """
        return ""

    @abstractmethod
    def end(self) -> ExitStatus:
        """Kill the process and return how it ended."""


class Workers(AbstractContextManager["Workers"]):
    """Starts student processes. A grader has one of these, used as a context manager."""

    def __init__(self, sandbox: SandboxPolicy) -> None:
        self.sandbox = sandbox
        self.layers = sandbox.layers  # what isolates the student's code, as listed in the result document

    @abstractmethod
    def start(self, folders: list[str], limits: dict[str, int], output: IO[bytes]) -> Process:
        """Start a process for a submission, which prints to `output`; raise WorkerUnavailable if that fails.

        Its modules are in the first of the folders that has them. The limits are those of `Limits.for_child`.
        """

    def close(self) -> None:
        """End every process that is still running."""

    def __exit__(self, *exc: object) -> None:
        self.close()


# Makes workers whose processes are isolated as the policy says; raises ValueError if they cannot be.
StartWorkers = Callable[[SandboxPolicy], AbstractContextManager[Workers]]

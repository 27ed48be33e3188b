"""The kit's exceptions: one small tree.

HeadwayError
├── UsageError        wrong input or usage; the command line prints it as one line and exits with 2
├── Cancelled         nobody waits for this job any more
└── Verdict           why a check is not passed; the plugin turns it into a status
    ├── Mismatch          a wrong value, shape, type or dtype            failed
    ├── Raised            the student's code raised an exception         error
    ├── Died              the student's process ended or broke the rules error
    ├── TimedOut          the call took longer than its limit            timeout
    ├── NotStarted        the stub still raises NotImplementedError      not_started
    └── Blocked           an unfinished or failing function is needed    blocked
"""

from dataclasses import dataclass, field
from typing import Any


class HeadwayError(Exception):
    """Base of everything the kit raises on purpose."""


class UsageError(HeadwayError):
    """Wrong input: one clear line that says what is wrong, where, and what to do next."""


def missing_package(what: str, extra: str, instead: str = "") -> UsageError:
    """For `what` ("pictures need Matplotlib") that one of the kit's extras installs; `instead` says what works without.

    >>> print(missing_package("pictures need Matplotlib", "train"))
    pictures need Matplotlib, which is not installed: pip install 'headway[train]'
    """
    command = install_command(extra)
    return UsageError(f"{what}, which is not installed: {command}{f'. {instead}' if instead else ''}")


def install_command(extra: str) -> str:
    """What installs one of the kit's extras."""
    return f"pip install 'headway[{extra}]'"


class Cancelled(HeadwayError):
    """Nobody waits for this job any more."""


class Verdict(HeadwayError):
    """A check is not passed. `details` holds plain data for the result document; `help` is advice, apart."""

    status = "failed"

    def __init__(self, message: str, *, help: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.details = details


class Mismatch(Verdict):
    """What the function returned is not what it should return."""


UNREAD = "<unread>"  # stands for a function in the last line of a trace: the line that Python could not read


@dataclass(frozen=True)
class CodeLine:
    """A line of the student's code that a traceback passes through."""

    file: str
    line: int
    function: str
    text: str = ""


@dataclass(frozen=True)
class StudentException:
    """An exception in the student's process, as data."""

    type: str
    message: str
    trace: tuple[CodeLine, ...] = field(default=())

    @property
    def unreadable(self) -> bool:
        """Whether Python could not read one of the student's files at all: none of its lines has run."""
        kinds = ("SyntaxError", "IndentationError", "TabError")
        return self.type in kinds and bool(self.trace) and self.trace[-1].function == UNREAD


class Raised(Verdict):
    """The student's function raised an exception."""

    status = "error"

    def __init__(self, message: str, exception: StudentException, **details: Any) -> None:
        super().__init__(message, **details)
        self.exception = exception


class Died(Verdict):
    """The student's process ended, or answered with something that is not a frame."""

    status = "error"


class TimedOut(Verdict):
    """The call took longer than its limit."""

    status = "timeout"


class NotStarted(Verdict):
    """The function is still a stub."""

    status = "not_started"


class Blocked(Verdict):
    """The check cannot pass before another function does."""

    status = "blocked"

    def __init__(self, message: str, blocked_by: tuple[str, ...], **details: Any) -> None:
        super().__init__(message, **details)
        self.blocked_by = blocked_by

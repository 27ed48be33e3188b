"""The exceptions of Headway: wrong usage, cancelled jobs, and the verdicts on a check."""

from typing import Any, NamedTuple


class HeadwayError(Exception):
    """Base class of everything that Headway raises on purpose."""


class UsageError(HeadwayError):
    """Wrong input; the message is one line that says what is wrong, where, and what to do next."""


def missing_package(what: str, extra: str, instead: str = "") -> UsageError:
    """Return the error for a missing optional package, which `extra` installs; `instead` works without the package.

    "plots need Matplotlib" becomes 'plots need Matplotlib, which is not installed: install Headway's extra "train" …'.
    """
    from autograder.installation import install_step  # takes 20 ms

    return UsageError(f"{what}, which is not installed: {install_step(extra)}{f'. {instead}' if instead else ''}")


class Cancelled(HeadwayError):
    """The result of this job is no longer needed."""


class Verdict(HeadwayError):
    """The reason why a check does not pass; `help` is advice apart from the message.

    `trace` is where the student's code raised an exception or was stopped, if its process said so. `details` are
    further fields of the check's result.
    """

    status = "failed"

    def __init__(
        self, message: str, *, help: str | None = None, trace: "tuple[CodeLine, ...]" = (), **details: Any
    ) -> None:
        super().__init__(message)
        self.message, self.help, self.trace, self.details = message, help, trace, details


class Mismatch(Verdict):
    """The function returned a wrong value."""


TOP_LEVEL = "<module>"  # Python's function name for the lines outside of functions, which run on import.
UNREAD = "<unread>"  # The function name of a line that Python could not parse, the last line of a trace.


class CodeLine(NamedTuple):
    """A line of the student's code that a traceback passes through."""

    file: str
    line: int
    function: str
    text: str = ""


class StudentException(NamedTuple):
    """An exception in the student's process, as data."""

    type: str
    message: str
    trace: tuple[CodeLine, ...] = ()

    @property
    def unreadable(self) -> bool:
        """Return whether Python could not parse one of the student's files, so that none of its lines has run."""
        syntax_errors = ("SyntaxError", "IndentationError", "TabError")
        return self.type in syntax_errors and bool(self.trace) and self.trace[-1].function == UNREAD

    @property
    def file_at_fault(self) -> str:
        """Return the file that Python could not read or import, so that no function of it has run; empty if none."""
        if self.unreadable:
            return self.trace[-1].file
        return next((line.file for line in reversed(self.trace) if line.function == TOP_LEVEL), "")


class Raised(Verdict):
    """The student's function raised an exception."""

    status = "error"

    def __init__(self, message: str, exception: StudentException, **details: Any) -> None:
        super().__init__(message, trace=exception.trace, **details)
        self.exception = exception


class Died(Verdict):
    """The student's process ended, or sent something that is not a valid answer."""

    status = "error"


class TimedOut(Verdict):
    """The call took longer than its limit."""

    status = "timeout"


class NotStarted(Verdict):
    """The function is still a stub."""

    status = "not_started"


class Blocked(Verdict):
    """The check cannot pass before another function passes."""

    status = "blocked"

    def __init__(self, name: str, needed: str) -> None:
        super().__init__(f"{name} needs {needed}, which is not written yet", blocked_by=[needed])
        self.needed = needed

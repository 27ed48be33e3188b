"""Check the workspace in this interpreter: a browser has no processes.

Student code shares the interpreter with the right answers: for learning on one's own, never for grades. It cannot be
interrupted either. Instead, the page is told about every call of student code, and replaces the whole worker if nothing
happens for too long.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from autograder.course import Assignment, Curriculum, registry
from autograder.documents.results import Status, SubmissionResult
from autograder.engine import session
from autograder.sandbox.in_process import InProcess, InProcessWorkers
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import SandboxPolicy
from autograder.web.browser.answers import downloaded_reference

# The page's deadline is 10 s without progress; the search for mistakes reports none.
LIMITS = Limits(grader_seconds=6.0)
NOTIFY_SECONDS = 0.2


class BrowserChecker:
    """Checks functions of the workspace in `folder`; `notify` is called while student code is called."""

    def __init__(self, folder: Path, curriculum: Curriculum, notify: Callable[[dict[str, Any]], None]) -> None:
        self._folder, self._curriculum, self._notify = folder, curriculum, notify
        self._reference = downloaded_reference(curriculum)  # It keeps the answers that it has read.
        self._notified = 0.0

    def check(self, functions: tuple[str, ...], known: Mapping[str, Status], diagnose: bool) -> SubmissionResult:
        """Return the result of some functions; the known statuses of others decide what is blocked."""
        return self._check(self._folder, functions, known, diagnose=diagnose)

    def warm_up(self, assignment: Assignment) -> None:
        """Check the official solution of an assignment's first function."""
        self._check(registry.solutions(self._curriculum.package), (assignment.functions[0].qualified,), {})

    def _check(
        self, folder: Path, functions: tuple[str, ...], known: Mapping[str, Status], *, diagnose: bool = False
    ) -> SubmissionResult:
        options = session.Options(
            functions=functions,
            limits=LIMITS,
            curriculum=self._curriculum,
            workers=self.start_workers,
            reference=self._reference,
        )
        results: list[SubmissionResult] = []

        def check(checks: session.CheckSession) -> None:
            results.append(checks.check(folder.name, folder, functions, known, diagnose=diagnose))

        session.run_in_session(options, check)
        return results[0]

    def start_workers(self, sandbox: SandboxPolicy) -> "_NotifyingWorkers":
        """Return workers that tell the page about every call."""
        return _NotifyingWorkers(sandbox, self._report_call)

    def _report_call(self) -> None:
        """Tell the page, now and then, that student code is still being called, one call after the other."""
        now = time.monotonic()
        if now - self._notified > NOTIFY_SECONDS:
            self._notified = now
            self._notify({"event": "progress"})


class _NotifyingWorkers(InProcessWorkers):
    """Calls `on_call` before each call of student code."""

    def __init__(self, sandbox: SandboxPolicy, on_call: Callable[[], None]) -> None:
        super().__init__(sandbox)
        self._on_call = on_call

    def start(
        self, folder: Path, limits: Limits, output: IO[bytes], cpu_used: float = 0.0, printed: int = 0
    ) -> InProcess:
        """Start a process for a submission, which prints to `output`."""
        process = _NotifyingProcess(folder, limits.for_child(cpu_used, printed), output)
        process.on_call = self._on_call
        return process


class _NotifyingProcess(InProcess):
    on_call: Callable[[], None]

    def send(self, frame: bytes) -> None:
        """Answer a request; raise OSError if the process has ended."""
        self.on_call()
        super().send(frame)

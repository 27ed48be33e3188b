"""Check for several pages with one warm engine: requests wait for their turn, and those of pages come first.

While no page has a request, what is not known is checked in the background.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from autograder.documents.results import Status, SubmissionResult
from autograder.errors import Cancelled, UsageError
from autograder.web.lesson_backend import Check, LessonBackend
from autograder.workspace.background_checker import BackgroundChecker, CheckReply, CheckRequest
from autograder.workspace.workspace import Workspace


@dataclass
class _Pending:
    functions: tuple[str, ...]
    in_background: bool
    result: "Future[SubmissionResult]"


class CheckQueue:
    """Checks functions of a workspace, one request after the other; each call waits for its result.

    A request for what is being checked at the moment replaces it, and any request of a page replaces a check in the
    background. A call that was replaced or cancelled raises Cancelled.
    """

    def __init__(self, workspace: Workspace, on_failure: Callable[[BaseException], None]) -> None:
        self._lock = threading.Lock()
        self._pending: dict[int, _Pending] = {}  # by number; the first one is running or will run next
        self._number = 0
        self._failure: BaseException | None = None
        self._on_failure = on_failure
        self._checker = BackgroundChecker(workspace, self._receive)

    def check(
        self, functions: tuple[str, ...], known: Mapping[str, Status], diagnose: bool, *, in_background: bool = False
    ) -> SubmissionResult:
        """Return the result of some functions: for a page or, if `in_background`, while no page has a request."""
        result: Future[SubmissionResult] = Future()
        with self._lock:
            if self._failure is not None:
                raise self._failure
            first = next(iter(self._pending), None)
            if first is not None and not in_background:
                running = self._pending[first]
                if running.in_background or running.functions == functions:
                    self._cancel_before(first + 1)
            elif in_background and self._pending:
                raise Cancelled
            self._number += 1
            self._pending[self._number] = _Pending(functions, in_background, result)
            self._checker.submit(CheckRequest(self._number, functions, known, diagnose))
        return result.result()

    def cancel(self) -> None:
        """Cancel every check that runs or waits."""
        with self._lock:
            self._cancel_before(self._number + 1)

    def seconds_left(self, function: str) -> float | None:
        """Return roughly how long the current call may still take while `function` is checked; None if it is not."""
        with self._lock:
            first = next(iter(self._pending.values()), None)
        is_running = first is not None and first.functions == (function,) and not first.in_background
        return self._checker.seconds_left() if is_running else None

    def close(self) -> None:
        """Cancel everything and end the engine with all its processes."""
        with self._lock:
            self._failure = self._failure or UsageError("headway serve has ended. Start it again in your terminal")
            self._cancel_before(self._number + 1)
        self._checker.close()

    def _cancel_before(self, number: int) -> None:
        self._checker.cancel_before(number)
        for older in [pending for pending in self._pending if pending < number]:
            self._pending.pop(older).result.set_exception(Cancelled())

    def _receive(self, reply: CheckReply) -> None:
        """Pass a reply on; called in the checker's thread."""
        with self._lock:
            if reply.failure is not None:
                self._failure = reply.failure
                for pending in self._pending.values():
                    pending.result.set_exception(reply.failure)
                self._pending.clear()
            elif reply.request is not None and reply.result is not None:
                pending_check = self._pending.pop(reply.request.number, None)
                if pending_check is not None:
                    pending_check.result.set_result(reply.result)
        if reply.failure is not None:
            self._on_failure(reply.failure)


class ServedBackend(LessonBackend):
    """A backend that also checks functions for which no page has asked."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tried: dict[str, str] = {}  # functions checked without a request, and their fingerprints

    def check_next_unknown(self, check: Check) -> bool:
        """Check the first assignment with functions of unknown status, without diagnosis; return whether there was one.

        What is being written in a page, and what depends on it, waits until the page asks for it. Nothing is checked
        while a file is missing or unreadable, because everything that imports it would fail for that reason alone.
        """
        with self._lock:
            self.workspace.refresh_snapshot()
            snapshot = self.workspace.snapshot
            if not all(map(snapshot.is_readable, self.curriculum.modules)):
                return False
            known, written = self.workspace.known_statuses, self._being_written.items()
            waiting = {name for name, fingerprint in written if fingerprint == snapshot.fingerprints[name]}
            unknown = {
                name: snapshot.fingerprints[name]
                for name in self.curriculum.functions
                if name not in known
                and waiting.isdisjoint({name, *self.curriculum.all_prerequisites(name)})
                and self._tried.get(name) != snapshot.fingerprints[name]
            }
            first = next(iter(unknown), "").partition(".")[0]
            names = tuple(name for name in unknown if name.partition(".")[0] == first)
        if not names:
            return False
        self._check(names, check, diagnose=False)
        self._tried |= {name: unknown[name] for name in names}
        return True

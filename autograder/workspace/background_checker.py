"""Check in a background thread: one pytest session stays warm, so that a save costs only its own checks."""

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autograder.documents.results import Status, SubmissionResult
from autograder.engine import session
from autograder.errors import Cancelled
from autograder.workspace.workspace import Workspace


@dataclass(frozen=True)
class CheckRequest:
    """Functions to check, and the known statuses of others, which decide what is blocked."""

    number: int  # tells a reply from replies to older requests
    functions: tuple[str, ...]
    known: Mapping[str, Status]
    diagnose: bool  # also look for the mistake behind each failure


@dataclass(frozen=True)
class CheckReply:
    """The result of a request; or, in `failure`, an internal error that has ended the checker."""

    request: CheckRequest | None
    result: SubmissionResult | None = None
    failure: BaseException | None = None


class BackgroundChecker:
    """Checks the workspace on request, one request at a time; the checks of the current function are collected before.

    Each reply is passed to `on_reply` in the checker's thread; cancelled requests have none.
    """

    def __init__(self, workspace: Workspace, on_reply: Callable[[CheckReply], None]) -> None:
        self._workspace = workspace
        first = workspace.current_function or next(iter(workspace.curriculum.functions))
        course, sandbox = workspace.curriculum, workspace.sandbox
        self._options = session.Options((first,), curriculum=course, sandbox=sandbox, keep_calls=True)
        self._on_reply = on_reply
        self._requests: queue.SimpleQueue[CheckRequest | None] = queue.SimpleQueue()
        self._session: session.CheckSession | None = None
        self._lock = threading.Lock()
        self._oldest_wanted = 0  # requests with a smaller number are cancelled
        self._thread = threading.Thread(target=self._run, name="checker", daemon=True)
        self._thread.start()

    def submit(self, request: CheckRequest) -> None:
        """Queue a request."""
        self._requests.put(request)

    def cancel_before(self, number: int) -> None:
        """Cancel every request with a smaller number, including the one that is running."""
        with self._lock:
            self._oldest_wanted = number
            if self._session is not None:
                self._session.cancel()

    def seconds_left(self) -> float | None:
        """Return roughly how long the current call of student code may still take; None if no call is running."""
        checks = self._session
        return checks.seconds_left() if checks is not None else None

    def close(self) -> None:
        """End the session and all its processes."""
        self._requests.put(None)
        self.cancel_before(1 << 62)
        self._thread.join(10)

    def _run(self) -> None:
        try:
            session.run_in_session(self._options, self._serve)
        except BaseException as error:
            self._on_reply(CheckReply(None, failure=error))

    def _serve(self, checks: session.CheckSession) -> None:
        while (request := self._requests.get()) is not None:
            with self._lock:
                if request.number < self._oldest_wanted:
                    continue
                self._session = checks
                checks.clear_cancellation()
            try:
                folder = self._workspace.module_folder
                result = checks.check(folder.name, folder, request.functions, request.known, diagnose=request.diagnose)
                self._on_reply(CheckReply(request, result))
            except Cancelled:
                continue
            finally:
                with self._lock:
                    self._session = None

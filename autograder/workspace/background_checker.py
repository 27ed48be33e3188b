"""A warm checker in a thread of its own: one pytest session that waits for jobs, so that a save costs its checks."""

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.curriculum import Curriculum
from autograder.engine import session
from autograder.errors import Cancelled
from autograder.results import Status, SubmissionResult


@dataclass(frozen=True)
class Request:
    """Functions to check, and the status of others that need not be checked to know what is blocked.

    Attributes:
        number: to tell an answer from those to older requests.
        brief: whether wrong or right is all that is asked, and not which mistake it is.
    """

    number: int
    functions: tuple[str, ...]
    known: Mapping[str, Status]
    brief: bool = False


@dataclass(frozen=True)
class Answer:
    """What came of a request; `failure` says what went wrong in the kit, after which no further answer comes."""

    request: Request | None
    result: SubmissionResult | None = None
    failure: BaseException | None = None


class Checker:
    """Checks the workspace on request, one request at a time.

    Args:
        folder: the workspace.
        warm_up: functions whose checks are collected before the first request.
        curriculum: the workspace's course.
        tell: called from the checker's thread with each answer; requests that were cancelled have none.
    """

    def __init__(
        self,
        folder: Path,
        warm_up: tuple[str, ...],
        tell: Callable[[Answer], None],
        curriculum: Curriculum,
    ) -> None:
        self._folder = folder
        self._options = session.Options(functions=warm_up, curriculum=curriculum)
        self._tell = tell
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._session: session.CheckSession | None = None
        self._lock = threading.Lock()
        self._wanted = 0  # requests with a smaller number are not wanted any more
        self._thread = threading.Thread(target=self._work, name="checker", daemon=True)
        self._thread.start()

    def ask(self, request: Request) -> None:
        """Queue a request."""
        self._requests.put(request)

    def cancel_before(self, number: int) -> None:
        """Forget every request with a smaller number; the one under way ends as soon as it can."""
        with self._lock:
            self._wanted = number
            if self._session is not None:
                self._session.cancel()

    def close(self) -> None:
        """End the session and everything that it started."""
        self._requests.put(None)
        self.cancel_before(1 << 62)
        self._thread.join(10)

    def _work(self) -> None:
        try:
            session.run_in_session(self._options, self._serve)
        except BaseException as error:
            self._tell(Answer(None, failure=error))

    def _serve(self, checks: session.CheckSession) -> None:
        while (request := self._requests.get()) is not None:
            with self._lock:
                if request.number < self._wanted:
                    continue
                self._session = checks
                checks.clear_cancellation()
            try:
                result = checks.check(
                    self._folder.name, self._folder, request.functions, request.known, diagnose=not request.brief
                )
                self._tell(Answer(request, result))
            except Cancelled:
                continue
            finally:
                with self._lock:
                    self._session = None

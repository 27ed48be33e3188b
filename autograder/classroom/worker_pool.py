"""The run: grading processes over one queue. One that dies is replaced, and its submission is tried once more.

Memory does not grow with the class: what is kept of a submission is where it lies, and of a result its entry.

Submissions that are equal byte for byte are each graded for themselves. Copying a result would be right for code that
always answers the same; but a call that ran out of time in a busy moment would then cost everybody who handed in that
code, and who copied from whom is not the grader's to know.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from autograder.classroom import worker
from autograder.classroom.result_store import JournalEntry
from autograder.classroom.worker import GradingTask, WorkerSetup
from autograder.engine.session import InternalError
from autograder.errors import UsageError

TRIES = 2
# So often in a row without a single result: it is not the submissions.
MAX_DEATHS = 6
# A submission is bounded by its own limits, three times over where it is checked again; beyond that the process hangs.
PATIENCE = 300.0

Done = Callable[[GradingTask, JournalEntry], None]


class GraderProcess:
    """A grading process from outside."""

    def __init__(self, setup: WorkerSetup) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=worker.main, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.units: deque[GradingTask] = deque()
        self.since = time.monotonic()
        self.words = ""
        self._send(setup)

    def give(self, unit: GradingTask) -> None:
        """Hand it a submission."""
        if not self.units:
            self.since = time.monotonic()
        self.units.append(unit)
        self._send(unit)

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # it died: the end of the pipe tells, when it is read
            self.pipe.send(message)

    def end(self) -> None:
        """End it, whatever it does."""
        self.pipe.close()
        self.process.kill()
        self.process.join()
        self.process.close()


@dataclass
class WorkerPool:
    """Grading processes on this machine.

    Attributes:
        done: called with each result, and with each submission that twice took its process with it.
        deaths: how many processes died, since the last result.
    """

    setup: WorkerSetup
    size: int
    done: Done
    patience: float = PATIENCE
    deaths: int = 0
    graders: list[GraderProcess] = field(default_factory=list)
    tries: dict[int, int] = field(default_factory=dict)

    def run(self, units: Iterable[GradingTask]) -> None:
        """Grade all of them.

        Raises:
            UsageError: if no submission can be graded, for a reason that the user can mend.
            InternalError: if grading processes die one after another.
        """
        todo = deque(units)
        try:
            while todo or any(one.units for one in self.graders):
                while len(self.graders) < min(self.size, len(todo) + len(self.graders)):
                    self.graders.append(GraderProcess(self.setup))
                self._feed(todo)
                for pipe in wait([one.pipe for one in self.graders], timeout=1.0):
                    self._hear(next(one for one in self.graders if one.pipe is pipe), todo)
                self._look_after(todo)
        except KeyboardInterrupt:
            self._collect(todo)
            raise
        finally:
            for one in self.graders:
                one.end()
            self.graders.clear()

    def _feed(self, todo: "deque[GradingTask]") -> None:
        # One ahead of the one it grades, so that it never waits; not near the end, where another may be free first.
        depth = 2 if len(todo) > 2 * self.size else 1
        for wanted in range(1, depth + 1):
            for one in self.graders:
                if todo and len(one.units) < wanted:
                    one.give(todo.popleft())

    def _hear(self, one: GraderProcess, todo: "deque[GradingTask]") -> None:
        try:
            kind, *rest = one.pipe.recv()
        except (EOFError, OSError):
            self._bury(one, todo)
            return
        if kind == "refused":
            raise UsageError(rest[0])
        if kind == "broke":
            one.words = rest[0]
            return
        number, entry = rest[:2]
        unit = one.units.popleft()
        assert unit.number == number
        one.since, self.deaths = time.monotonic(), 0
        self.done(unit, entry)

    def _look_after(self, todo: "deque[GradingTask]") -> None:
        limits = self.setup.options.limits
        allowed = self.patience + 3 * limits.submission_seconds
        for one in list(self.graders):
            if one.units and time.monotonic() - one.since > allowed:
                one.words = f"it did not answer for {allowed:.0f} s"
                self._bury(one, todo)

    def _bury(self, one: GraderProcess, todo: "deque[GradingTask]") -> None:
        """A process is gone: its submission is tried once more, by another; those that waited were not at fault."""
        one.process.join(1)
        code = one.process.exitcode
        words = one.words or (
            f"it was ended by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        )
        self.graders.remove(one)
        one.end()
        self.deaths += 1
        if self.deaths >= MAX_DEATHS:
            raise InternalError(f"grading processes die one after another ({words})")
        todo.extendleft(reversed(one.units))
        if not one.units:
            return
        unit = todo.popleft()
        self.tries[unit.number] = self.tries.get(unit.number, 0) + 1
        if self.tries[unit.number] < TRIES:
            todo.append(unit)  # at the end: alone with its process, it may do better
        else:
            reason = f"the kit failed: the grading process died {TRIES} times while it graded this ({words})"
            self.done(unit, JournalEntry(unit.file, "", "failed", reason))

    def _collect(self, todo: "deque[GradingTask]") -> None:
        """What was finished in the moment of the interruption is not lost."""
        for one in list(self.graders):
            with suppress(EOFError, OSError, UsageError, InternalError):
                while one.pipe.poll():
                    self._hear(one, todo)

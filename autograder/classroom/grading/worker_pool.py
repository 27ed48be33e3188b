"""Grade with several processes on this machine.

A process that dies is replaced. The submission that it was grading is recorded as failed and not tried again in this
run; all other submissions are graded.

Memory does not grow with the class: a task holds the path of a submission, and a result is a small journal entry.
Identical submissions are each graded. Copying a result would be correct for code that always behaves the same, but a
call that timed out on a busy machine would then cost every student with the same code points, and the grader would
reveal who shares code.
"""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from autograder.classroom.grading import worker
from autograder.classroom.grading.worker import GradingTask, WorkerSetup
from autograder.classroom.storage.result_store import JournalEntry
from autograder.core.current_folder import spawn_context
from autograder.engine.session import InternalError
from autograder.errors import UsageError
from autograder.sandbox.limits import Limits

# After this many deaths in a row of processes that had not started on a submission, none can be graded.
MAX_DEATHS = 6
# A process that exceeds three times the submission's limit (blocked checks run again) by this many seconds hangs.
GRACE_SECONDS = 300.0

OnResult = Callable[[GradingTask, JournalEntry], None]
NextTask = Callable[[deque[GradingTask]], GradingTask | None]


class GraderProcess:
    """A grading process, seen from the run."""

    def __init__(self, setup: WorkerSetup) -> None:
        context = spawn_context()
        self.pipe, child_pipe = context.Pipe()
        self.process: BaseProcess = context.Process(target=worker.main, args=(child_pipe,), daemon=True)
        self.process.start()
        child_pipe.close()
        self.tasks: deque[GradingTask] = deque()  # that were sent and not yet answered
        self.busy_since = time.monotonic()  # when the process started on the first of them
        self.started: int | None = None  # number of the last task that it started on
        self.started_at = 0.0  # by `time.monotonic`
        self.error = ""  # the last that the process reported
        self._send(setup)

    def submit(self, task: GradingTask) -> None:
        """Send a task."""
        if not self.tasks:
            self.busy_since = time.monotonic()
        self.tasks.append(task)
        self._send(task)

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # the process died, which the next recv notices
            self.pipe.send(message)

    def receive(self) -> tuple[Any, ...] | None:
        """Return the next message, or None if it only said what the process has started on.

        Raises EOFError or OSError if the process has died.
        """
        kind, *values = self.pipe.recv()
        if kind != "started":
            return (kind, *values)
        self.started, self.started_at = values
        return None

    def how_it_ended(self) -> str:
        """Return why the process, which has died, did so."""
        self.process.join(1)
        code = self.process.exitcode
        return self.error or (f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}")

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self.pipe.close()
        self.process.kill()
        self.process.join()
        self.process.close()


def entry_of_death(task: GradingTask, grader: GraderProcess) -> JournalEntry:
    """Return the journal entry of a submission that a process, which has died, was grading."""
    text = f"internal error: the grading process ended while it graded this submission ({grader.how_it_ended()})"
    # What the process and its children used is lost with it: the student is charged all the time that passed.
    seconds = time.monotonic() - grader.started_at
    reason = f"{text}. The next headway grade tries it again"
    return JournalEntry(task.file, "", "failed", reason, seconds=round(seconds, 3), charged_seconds=seconds)


@dataclass
class WorkerPool:
    """Grading processes on this machine."""

    setup: WorkerSetup
    size: int  # the number of processes
    on_result: OnResult  # called with each result, and with each submission whose process died
    next_task: NextTask  # removes a task from the queue, or returns None if none may begin now
    deaths: int = 0  # how many processes died in a row before they started on a submission
    graders: list[GraderProcess] = field(default_factory=list)
    todo: deque[GradingTask] = field(default_factory=deque)

    def run(self, tasks: Iterable[GradingTask]) -> None:
        """Grade all tasks.

        Raises UsageError if no submission can be graded, for a reason that the user can fix, and InternalError if
        grading processes die one after another.
        """
        self.todo.extend(tasks)
        try:
            while self.todo or any(grader.tasks for grader in self.graders):
                while len(self.graders) < min(self.size, len(self.todo) + len(self.graders)):
                    self.graders.append(GraderProcess(self.setup))
                self._submit_tasks()
                for pipe in wait([grader.pipe for grader in self.graders], timeout=1.0):
                    self._receive(next(grader for grader in self.graders if grader.pipe is pipe))
                self._replace_hanging()
        except KeyboardInterrupt:
            self._receive_finished()
            raise
        finally:
            for grader in self.graders:
                grader.kill()
            self.graders.clear()

    def _submit_tasks(self) -> None:
        # Each process has one task queued so that it never waits; near the end, another may be free first.
        depth = 2 if len(self.todo) > 2 * self.size else 1
        for wanted in range(1, depth + 1):
            for grader in self.graders:
                if len(grader.tasks) < wanted and (task := self.next_task(self.todo)):
                    grader.submit(task)

    def _receive(self, grader: GraderProcess) -> None:
        try:
            message = grader.receive()
        except (EOFError, OSError):
            self._replace_dead(grader)
            return
        if message is None:
            return
        kind, *values = message
        if kind == "refused":
            raise UsageError(values[0])
        if kind == "error":
            grader.error = values[0]
            return
        number, entry = values
        task = grader.tasks.popleft()
        assert task.number == number
        grader.busy_since, self.deaths = time.monotonic(), 0
        self.on_result(task, entry)

    def _replace_hanging(self) -> None:
        allowed = GRACE_SECONDS + 3 * self.setup.options.limits.submission_seconds
        for grader in list(self.graders):
            if grader.tasks and time.monotonic() - grader.busy_since > allowed:
                grader.error = f"no answer for {allowed:.0f} s"
                self._replace_dead(grader)

    def _replace_dead(self, grader: GraderProcess) -> None:
        """Remove a dead process, and record the submission that it was grading as failed; others grade the rest."""
        reason = grader.how_it_ended()
        failed = [(task, entry_of_death(task, grader)) for task in grader.tasks if task.number == grader.started]
        self.graders.remove(grader)
        grader.kill()
        waiting = [task for task in grader.tasks if task.number != grader.started]
        self.todo.extendleft(reversed(waiting))
        self.deaths = self.deaths + 1 if len(waiting) == len(grader.tasks) else 0
        if self.deaths >= MAX_DEATHS:
            raise InternalError(f"grading processes die one after another ({reason})")
        for task, entry in failed:
            self.on_result(task, entry)

    def _receive_finished(self) -> None:
        """Receive the results that were finished when the run was interrupted."""
        for grader in list(self.graders):
            with suppress(EOFError, OSError, UsageError, InternalError):
                while grader.pipe.poll():
                    self._receive(grader)


class StudentBudgets:
    """The CPU time that all attempts of a student may use in one run, with the time that their processes sleep.

    An attempt reserves the most that it may use, so that attempts that are graded at once stay within the limit
    together. `leave_out` is called for attempts of students who have no time left.
    """

    def __init__(self, seconds: float, limits: Limits, leave_out: Callable[[GradingTask], None]) -> None:
        self._seconds, self._leave_out = seconds, leave_out
        self._most_of_attempt = limits.cpu_seconds + limits.grader_seconds
        self._spent: defaultdict[str, float] = defaultdict(float)  # by student
        self._reserved: defaultdict[str, dict[int, float]] = defaultdict(dict)  # by student and task number

    def next_task(self, todo: deque[GradingTask]) -> GradingTask | None:
        """Remove and return the first task that may begin, with the CPU time that it may use; None if there is none.

        A task stays where it is if it may begin only once another attempt of the student needs less than it reserved.
        """
        waiting: list[GradingTask] = []
        found = None
        while todo and found is None:
            task = todo.popleft()
            unspent, reserved = self._seconds - self._spent[task.student], self._reserved[task.student]
            reserved.pop(task.number, None)  # of a process that died before it started on this task
            left = unspent - sum(reserved.values())
            if left > 0:
                reserved[task.number] = min(left, self._most_of_attempt)
                found = replace(task, cpu_seconds=left)
            elif unspent > 0:
                waiting.append(task)
            else:
                self._leave_out(task)
        todo.extendleft(reversed(waiting))
        return found

    def charge(self, task: GradingTask, seconds: float) -> None:
        """Charge what an attempt has used; the rest of what it reserved is free again."""
        self._spent[task.student] += seconds
        self._reserved[task.student].pop(task.number, None)

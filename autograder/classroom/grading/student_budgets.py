"""Limit the CPU time that all attempts of a student use in one run; the time that their processes sleep is part of it.

An attempt reserves the most that it may use, so that attempts that are graded at once stay within the limit together.
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Callable

from autograder.classroom.grading.worker import GradingTask
from autograder.sandbox.limits import Limits


class StudentBudgets:
    """The CPU time that each student has left in this run; `leave_out` is called for attempts that have none."""

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
            unspent, reserved = self._seconds - self._spent[task.name], self._reserved[task.name]
            reserved.pop(task.number, None)  # of a process that died before it started on this task
            left = unspent - sum(reserved.values())
            if left > 0:
                reserved[task.number] = min(left, self._most_of_attempt)
                found = dataclasses.replace(task, cpu_seconds=left)
            elif unspent > 0:
                waiting.append(task)
            else:
                self._leave_out(task)
        todo.extendleft(reversed(waiting))
        return found

    def charge(self, task: GradingTask, seconds: float) -> None:
        """Charge what an attempt has used; the rest of what it reserved is free again."""
        self._spent[task.name] += seconds
        self._reserved[task.name].pop(task.number, None)

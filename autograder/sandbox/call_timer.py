"""Decide when a call of student code has taken too long.

CPU time decides wherever the grader can measure it, so that a busy machine stops no honest code; elsewhere the clock
does. A process that is asleep uses no CPU time, so that its sleep has a limit of its own, and counts as CPU time of the
submission.
"""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from autograder.core.interpreter import cpu_seconds_of

PATIENCE = 1.0  # seconds that any call may take; only then is its CPU time measured
MAX_ASLEEP = 2.0  # seconds in one call: NumPy code waits for nothing but the processor
TRANSFER_SECONDS = 10.0  # for an answer that has begun to arrive
POLL_SECONDS = 0.1
SHORTEST_WAIT = 0.001
Measure = Callable[[], "Activity | None"]
CLOCK_FACTOR = 3.0  # Where only the clock can be measured, other processes should not cost an honest function points.


class Activity(NamedTuple):
    """The CPU time that a process has used so far, and whether it is asleep at this moment."""

    cpu_seconds: float
    is_asleep: bool


def activity_of(pid: int) -> Activity | None:
    """Return the activity of a process, or None where it cannot be measured (on anything but Linux)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    seconds = cpu_seconds_of(pid)
    if seconds is None:
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    # A process in state D waits for a disk or for memory: that is the machine's fault.
    return Activity(seconds, fields[0] not in (b"R", b"D"))


@dataclass(frozen=True)
class Deadline:
    """What one call may take. `cpu_seconds` may take time itself; it is called only once `patience` is used up."""

    cpu_seconds: Callable[[], float]
    patience: float = PATIENCE

    @classmethod
    def fixed(cls, seconds: float) -> "Deadline":
        """Return a deadline that does not depend on the call."""
        return cls(lambda: seconds, min(PATIENCE, seconds))


class SleepMeter:
    """Estimates how long the processes of a submission sleep in all its calls, by a look at them now and then.

    A look stands for the pause before it. The pauses differ, and go on from one call to the next, so that many short
    sleeps count as much as a long one, and no process can pretend to be awake at the moments of the looks. A process
    that waits for the processor or the disk is awake: a busy machine adds nothing.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._pause = self.seconds_to_look = _random_pause()

    def look(self, activity: Activity | None) -> float:
        """Count the pause if the process is asleep, and begin the next one; return the seconds that were counted."""
        # One look says nothing about more than its pause: if this process looks late, the other one may have waited
        # for the processor, too.
        slept = self._pause if activity is not None and activity.is_asleep else 0.0
        self.seconds += slept
        self._pause = self.seconds_to_look = _random_pause()
        return slept


def _random_pause() -> float:
    return random.uniform(0.5, 1.5) * POLL_SECONDS


class CallTimer:
    """The time that one call takes, from now on; `wall_seconds` are left; `used` is the CPU time so far, if known."""

    def __init__(
        self, deadline: Deadline, wall_seconds: float, activity: Measure, sleep: SleepMeter, used: float | None = None
    ) -> None:
        self._deadline, self._wall_seconds, self._activity, self._sleep = deadline, wall_seconds, activity, sleep
        self._started = self._last = self._looked = time.monotonic()
        begin = activity() if used is None else Activity(used, is_asleep=False)
        self._is_measurable = begin is not None
        self._cpu_before = begin.cpu_seconds if begin else 0.0
        self._used = self._asleep = 0.0  # CPU seconds of this call at the last look, and how long it has slept
        self._allowed: float | None = None  # CPU seconds
        self._transfer_started: float | None = None
        self.reason = ""  # why the call was stopped; empty if the submission's time was used up

    def note_answer(self) -> None:
        """Note that the answer has begun to arrive: from now on, only its transfer takes time."""
        if self._transfer_started is None:
            self._transfer_started = time.monotonic()

    def seconds_to_wait(self) -> float:
        """Return how long to wait for the answer before asking again; raise TimeoutError to stop the call."""
        now = self.advance()
        waited = now - self._started
        wall_left = self._wall_seconds - waited
        if wall_left <= 0:
            raise TimeoutError
        # At its very beginning, no call is asleep yet.
        if self._is_measurable and self._sleep.seconds_to_look <= 0 and waited >= SHORTEST_WAIT:
            self._asleep += min(self._sleep.look(self._activity()), now - self._looked)
            self._looked = now
        if self._transfer_started is not None:
            left = self._transfer_started + TRANSFER_SECONDS - now
            self._require(left > 0, f"its answer took more than {TRANSFER_SECONDS:g} s to arrive")
        elif waited < self._deadline.patience:
            left = self._deadline.patience - waited
        else:
            left = self._measure(waited)
        to_look = self._sleep.seconds_to_look if self._is_measurable else left
        return max(SHORTEST_WAIT, min(left, wall_left, to_look))

    def advance(self) -> float:
        """Let the time since the last call of this method count towards the next look; return the time now."""
        now = time.monotonic()
        self._sleep.seconds_to_look -= now - self._last
        self._last = now
        return now

    def seconds_left(self) -> float:
        """Return roughly how long the call may still take; from any thread.

        Until `patience` is used up this is what is left of it, and the call may get more.
        """
        waited = time.monotonic() - self._started
        left = self._deadline.patience - waited if self._allowed is None else self._allowed - self._used
        return max(0.0, min(left, self._wall_seconds - waited))

    def _measure(self, waited: float) -> float:
        if self._allowed is None:
            self._allowed = self._deadline.cpu_seconds()  # takes time, in which the process goes on
        activity = self._activity()
        if activity is None:
            left = CLOCK_FACTOR * self._allowed - waited
            self._used = self._allowed - max(0.0, left)
            self._require(left > 0, f"it did not return within {CLOCK_FACTOR * self._allowed:.2g} s")
            return min(left, _random_pause())
        used = self._used = activity.cpu_seconds - self._cpu_before
        self._require(used < self._allowed, f"it used more than {self._allowed:.2g} s of CPU time")
        allowed_sleep = min(MAX_ASLEEP, 2 * self._allowed)
        self._require(self._asleep < allowed_sleep, f"it was asleep for more than {allowed_sleep:.2g} s")
        return self._allowed - used

    def _require(self, condition: bool, reason: str) -> None:
        if not condition:
            self.reason = reason
            raise TimeoutError

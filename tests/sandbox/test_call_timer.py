"""When a call is stopped: by its CPU time, by its sleep, or by the clock where neither can be measured."""

import contextlib
import os
import random
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support.raising import raising
from support.waiting import wait_until

from autograder.sandbox import call_timer, process
from autograder.sandbox.call_timer import Activity, CallTimer, Deadline, SleepMeter, activity_of
from autograder.sandbox.process import SocketProcess


@pytest.fixture
def clock(monkeypatch):
    """The clock of timers, which only the test moves."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(call_timer, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def seconds_until_stopped(clock, activity, deadline, wall_seconds=100.0):
    """Return when a call is stopped whose process uses CPU time as `activity` says, and the timer.

    `activity` maps the time since the call to an Activity or None.
    """
    timer = CallTimer(deadline, wall_seconds, lambda: activity(clock.now), SleepMeter())
    with contextlib.suppress(TimeoutError):
        while clock.now < 1000:
            clock.now += timer.seconds_to_wait()
    return clock.now, timer


@pytest.mark.parametrize(("cpu_share", "is_asleep", "cpu_seconds", "wall_seconds", "stopped_after", "reason"), [
    (1.0, False, 1.5, 100.0, 1.5, "1.5 s of CPU time"),
    (0.1, False, 1.5, 100.0, 15.0, "1.5 s of CPU time"),  # a busy machine gives it a tenth
    (0.0, True, 60.0, 100.0, 2.0, "asleep for more than 2 s"),
    (0.0, False, 1.0, 50.0, 50.0, None),  # it waits for the machine until the time of the submission is over
    (None, False, 1.5, 100.0, 4.5, "within 4.5 s"),  # without a measurement, the clock decides
], ids=["loop", "busy machine", "sleeper", "waiting", "no measurement"])  # fmt: skip
def test_call_is_stopped(clock, cpu_share, is_asleep, cpu_seconds, wall_seconds, stopped_after, reason):
    def activity(now):
        return None if cpu_share is None else Activity(cpu_share * now, is_asleep=is_asleep)

    seconds, timer = seconds_until_stopped(clock, activity, Deadline(lambda: cpu_seconds), wall_seconds)
    assert seconds == pytest.approx(stopped_after, abs=0.2 if is_asleep else 0.01)
    assert reason in timer.reason if reason else not timer.reason


def seconds_asleep(clock, seconds_of_a_call, is_asleep):
    """Return what is counted of 20 s in calls; `is_asleep` says so for the time since the beginning of a call."""
    random.seed(1)
    clock.now, meter = 0.0, SleepMeter()
    while clock.now < 20.0:
        began, end = clock.now, clock.now + seconds_of_a_call
        activity = lambda began=began: Activity(0.0, is_asleep(clock.now - began))  # noqa: E731
        timer = CallTimer(Deadline(lambda: 60.0), 100.0, activity, meter)
        while clock.now < end:
            clock.now = min(clock.now + timer.seconds_to_wait(), end)
        timer.advance()
    return meter.seconds


@pytest.mark.parametrize("seconds_of_a_call", [0.005, 0.03, 0.9])
def test_sleep_in_short_calls_is_counted(clock, seconds_of_a_call):
    assert seconds_asleep(clock, seconds_of_a_call, lambda now: True) == pytest.approx(20.0, rel=0.3)
    half = seconds_asleep(clock, seconds_of_a_call, lambda now: now > seconds_of_a_call / 2)
    assert half == pytest.approx(10.0, rel=0.3)
    assert seconds_asleep(clock, seconds_of_a_call, lambda now: False) == 0.0


class OwnProcess(SocketProcess):
    def end(self):
        raise NotImplementedError


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets of UNIX")
def test_process_that_waits_to_be_read_is_not_asleep(monkeypatch):
    monkeypatch.setattr(process, "activity_of", lambda pid: Activity(1.0, is_asleep=True))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        student = OwnProcess(ours, os.getpid())
        assert student.activity().is_asleep
        theirs.sendall(b"answer")
        assert not student.activity().is_asleep
        student.receive(6, lambda: 1.0)
        assert student.activity() == Activity(1.0, is_asleep=True)


def test_late_look_does_not_count_as_sleep(clock):
    """A grader that had to wait for the processor finds a process that has answered meanwhile, and is asleep."""
    timer = CallTimer(Deadline(lambda: 0.3, 0.3), 100.0, lambda: Activity(0.01, is_asleep=True), SleepMeter())
    for _ in range(2):
        clock.now += timer.seconds_to_wait() + 5.0
    assert timer.seconds_to_wait() > 0
    while timer.reason == "" and clock.now < 30:
        with contextlib.suppress(TimeoutError):
            clock.now += timer.seconds_to_wait()
    assert "more than 0.6 s" in timer.reason


def test_answer_that_was_there_at_the_deadline_is_read():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"answer")
        student = OwnProcess(ours, None)
        assert student.receive(6, raising(TimeoutError())) == b"answer"
        with pytest.raises(TimeoutError):
            student.receive(6, raising(TimeoutError()))
        theirs.sendall(b"answer"[:3])
        with pytest.raises(TimeoutError):  # only half of it
            student.receive(6, raising(TimeoutError()))


def test_deadline_of_quick_call_is_never_computed():
    timer = CallTimer(Deadline(lambda: pytest.fail("it costs time")), 100.0, lambda: None, SleepMeter())
    assert 0.9 < timer.seconds_to_wait() <= 1.0


def test_answer_that_drips_is_stopped(clock):
    timer = CallTimer(Deadline(lambda: 60.0), 100.0, lambda: None, SleepMeter())
    timer.note_answer()
    clock.now = 10.5
    with pytest.raises(TimeoutError):
        timer.seconds_to_wait()
    assert "answer took more than 10" in timer.reason


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
@pytest.mark.parametrize(
    ("code", "is_asleep", "least"), [("while True: pass", False, 0.05), ("import time; time.sleep(60)", True, 0.0)]
)
def test_activity_tells_a_loop_from_a_sleeper(code, is_asleep, least):
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", code]) as process:

        def is_seen():
            seen = activity_of(process.pid)
            return seen.is_asleep == is_asleep and seen.cpu_seconds > least

        wait_until(is_seen)
        process.kill()
    assert activity_of(process.pid) is None

"""What a submission has used is counted once."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.student import StudentCode
from autograder.errors import TimedOut
from autograder.sandbox import Deadline, Limits, ResourceUsage, WorkerTimedOut, call_timer, session


@pytest.fixture
def hanging(monkeypatch):
    """A student whose every call hangs until its deadline; the clock is ours."""
    clock = SimpleNamespace(now=0.0)
    for module in (session, call_timer):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def converse(self, process, message, timer):
        if message.get("op") == "is_stub":
            return {}
        while True:
            clock.now += timer.seconds_to_wait()

    monkeypatch.setattr(session.Session, "_running", lambda self: None)
    monkeypatch.setattr(session.Session, "_exchange", converse)
    return Limits(call_seconds=2.0, submission_seconds=10.0), ResourceUsage()


def test_hanging_call_is_charged_once(hanging):
    limits, spent = hanging
    one = session.Session(None, Path(), limits, spent)
    with pytest.raises(WorkerTimedOut, match=r"^it did not return within 6 s$"):
        one.request({}, Deadline.fixed(2.0))
    assert spent.seconds == pytest.approx(6.0)
    with pytest.raises(WorkerTimedOut, match="used up its 10 s of time"):
        one.request({}, Deadline.fixed(2.0))
    assert spent.seconds == pytest.approx(10.0, abs=0.01)


def test_check_seconds_are_those_of_its_calls(hanging):
    limits, spent = hanging
    student = StudentCode(None, Path(), TRANSFORMER, limits, spent)
    student.new_check("softmax.softmax")
    with pytest.raises(TimedOut, match="did not return within 6 s"):
        student.softmax.softmax([1.0])
    assert student.seconds == pytest.approx(6.0)
    student.new_check("softmax.softmax")
    assert student.seconds == 0.0

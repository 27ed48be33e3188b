"""What a submission has used is counted once."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.student import StudentCode
from autograder.errors import TimedOut
from autograder.sandbox import call_timer, student_process
from autograder.sandbox.call_timer import Activity, Deadline
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import SandboxPolicy, bubblewrap_command, readable_paths
from autograder.sandbox.source_reader import SourceReader
from autograder.sandbox.student_process import ResourceUsage, WorkerTimedOut


@pytest.fixture
def hanging(monkeypatch):
    """A student whose every call hangs until its deadline; the clock is ours."""
    clock = SimpleNamespace(now=0.0)

    def advance(seconds):
        clock.now += seconds

    for module in (student_process, call_timer):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now, advance=advance))

    def converse(self, process, message, timer):
        if message.get("op") == "is_stub":
            return {}
        while True:
            clock.now += timer.seconds_to_wait()

    monkeypatch.setattr(student_process.StudentProcess, "_running", lambda self: SimpleNamespace(pid=None))
    monkeypatch.setattr(student_process.StudentProcess, "_exchange", converse)
    return Limits(call_seconds=2.0, submission_seconds=10.0), ResourceUsage()


def test_lines_of_a_deep_recursion_are_the_innermost(tmp_path):
    # faulthandler writes the innermost line first
    lines = [f'  File "{tmp_path}/softmax.py", line {number} in f{number}' for number in range(50, 0, -1)]
    found = student_process.stopped_lines("\n".join(["Stack:", *lines, '  File "/usr/a.py", line 1 in b']), tmp_path)
    assert [line.line for line in found] == list(range(51 - student_process.MAX_LINES, 51))


def test_reading_that_a_new_process_does_in_time_is_not_held_against_a_submission(monkeypatch):
    replies = [{}, WorkerTimedOut("slow"), {}, {}]

    def request(process, message, deadline):
        process._usage.seconds += 0.1
        if reply := replies.pop(0):
            raise reply
        return {"status": "returned", "value": {}}

    monkeypatch.setattr(student_process.StudentProcess, "request", request)
    reader = SourceReader(None)
    reader.used_functions(b"", [])
    reader.next_submission()
    assert [reader.used_functions(b"", []) for _ in range(2)] == [{}, {}] and replies == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs the folders of Linux")
def test_folders_with_hidden_packages_may_only_be_listed():
    readable = readable_paths()
    may_read = [path for path, reads in readable.rules() if reads]
    assert not any(folder.is_relative_to(path) for path in may_read for folder in readable.hidden)
    listed = [path for path, reads in readable.rules() if not reads]
    assert listed == [str(root) for root in readable.roots if root.is_dir()]
    numpy = [str(folder) for folder in readable.packages if folder.name == "numpy"]
    assert numpy and {*numpy} <= {*may_read} and not {*may_read} & {str(folder) for folder in readable.hidden}
    assert not any(folder in other.parents for folder in readable.roots for other in readable.roots)


@pytest.mark.skipif(sys.platform != "linux", reason="needs the folders of Linux")
def test_bubblewrap_hides_packages_before_it_shows_those_that_are_allowed():
    readable = readable_paths((Path("/srv/allowed"),))
    line = bubblewrap_command("bwrap", readable, [Path("/srv/file")], Path("/srv/work"))
    assert line[0] == "bwrap" and {"--unshare-all", "--die-with-parent", "--new-session"} <= {*line}
    assert line[line.index("--cap-drop") + 1] == "ALL" and line[-5:] == ["--remount-ro", "/", "--chdir", "/", "--"]
    assert not any(option.endswith("bind") and option != "--ro-bind" for option in line)
    hidden = [line.index(str(folder)) for folder in readable.hidden]
    assert all(line[place - 1] == "--tmpfs" for place in hidden)
    for path in ("/srv/allowed", "/srv/file", "/srv/work"):
        assert path in line[max(hidden, default=0) :]


def test_layers_name_what_isolates_the_code(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert SandboxPolicy(("seccomp",)).layers == ["process", "limits", "seccomp"]
    assert SandboxPolicy(unsafe=True).layers == ["process", "limits", "unsafe-no-sandbox"]
    monkeypatch.setattr(sys, "platform", "win32")
    assert SandboxPolicy().layers == ["process"]


def test_hanging_call_is_charged_once(hanging):
    limits, spent = hanging
    one = student_process.StudentProcess(None, Path(), limits, spent)
    with pytest.raises(WorkerTimedOut, match=r"^it did not return within 6 s$"):
        one.request({}, Deadline.fixed(2.0))
    assert spent.seconds == pytest.approx(6.0)
    with pytest.raises(WorkerTimedOut, match="used up its 10 s of time"):
        one.request({}, Deadline.fixed(2.0))
    assert spent.seconds == pytest.approx(10.0, abs=0.01)


def test_sleep_counts_as_cpu_time_of_the_submission(hanging, monkeypatch):
    _, spent = hanging
    limits = Limits(submission_seconds=100.0, cpu_seconds=5.0)
    clock = student_process.time

    def sleep_for_less_than_a_second(self, process, message, timer):
        end = clock.monotonic() + 0.9
        while clock.monotonic() < end:
            clock.advance(timer.seconds_to_wait())
        return {}

    monkeypatch.setattr(student_process.StudentProcess, "_exchange", sleep_for_less_than_a_second)
    monkeypatch.setattr(student_process.StudentProcess, "activity", lambda self: Activity(0.0, is_asleep=True))
    one = student_process.StudentProcess(None, Path(), limits, spent)
    with pytest.raises(WorkerTimedOut, match="5 s of CPU time, which"):
        [one.request({}, Deadline.fixed(60.0)) for _ in range(20)]
    assert spent.sleep.seconds == pytest.approx(5.0, abs=1.0)


def test_check_seconds_are_those_of_its_calls(hanging):
    limits, spent = hanging
    student = StudentCode(None, Path(), TRANSFORMER, limits, spent)
    student.new_check("softmax.softmax")
    with pytest.raises(TimedOut, match="did not return within 6 s"):
        student.softmax.softmax([1.0])
    assert student.seconds == pytest.approx(6.0)
    student.new_check("softmax.softmax")
    assert student.seconds == 0.0


def test_process_may_print_and_use_the_time_that_earlier_ones_left():
    limits = Limits(output_bytes=1000, cpu_seconds=10.0)
    assert [limits.for_child(printed=n)["output_bytes"] for n in (0, 999, 1000, 1500)] == [1000, 1, 0, 0]
    assert [limits.for_child(used)["cpu_seconds"] for used in (0.0, 3.5, 9.9, 12.0)] == [10, 7, 1, 1]
    assert Limits.for_training(1.0).for_child(1e9)["cpu_seconds"] == 0  # no limit


@pytest.mark.parametrize(("left", "cpu", "grader"), [(20.0, 20.0, 20.0), (100.0, 100.0, 60.0), (1e6, 300.0, 60.0)])
def test_submission_gets_no_more_than_what_its_student_has_left(left, cpu, grader):
    limits = Limits(cpu_seconds=300.0, grader_seconds=60.0).within(left)
    assert (limits.cpu_seconds, limits.grader_seconds) == (cpu, grader)

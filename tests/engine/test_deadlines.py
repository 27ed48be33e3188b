"""The deadline of a call follows from what the official solution needs for it."""

import math
import re
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from support.commands import SOFTMAX

from autograder.courses.transformer import TRANSFORMER
from autograder.engine import official_time, student
from autograder.engine.official_time import OfficialTimes
from autograder.engine.session import Options, check
from autograder.engine.student import MAX_TIMEOUTS, StudentCode
from autograder.errors import TimedOut, Verdict
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import SandboxPolicy

pytestmark = pytest.mark.slow

BUSY = """
    import time
    began = time.process_time()
    while time.process_time() < began + (1.5 if np.ndim(x) == 1 else 0): pass
"""
LOOP = "def softmax(x, axis=-1, temperature=1.0):\n    while True: pass\n"


@pytest.fixture
def official_times(workers):
    with closing(OfficialTimes(workers, TRANSFORMER, Limits())) as times:
        yield times


@pytest.fixture
def right(workers, solutions):
    with closing(StudentCode(workers, solutions, TRANSFORMER, Limits())) as code:
        yield code


def test_official_time_of_a_call_is_measured(official_times, right):
    seconds = []
    for size in (10, 1_000_000):
        right.new_check("softmax.softmax")
        right.softmax.softmax(np.ones((size, 2)))
        seconds.append(official_times.cpu_seconds(right.calls))
    assert 0 < seconds[0] < 0.01 < seconds[1] < 0.5


def test_official_folder_in_the_sandbox_has_a_name_of_128_random_bits(workers, right, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "sandbox", SandboxPolicy(submissions_root=tmp_path))
    right.new_check("softmax.softmax")
    right.softmax.softmax(np.ones(3))
    with closing(OfficialTimes(workers, TRANSFORMER, Limits())) as times:
        times.cpu_seconds(right.calls)
        (folder,) = tmp_path.iterdir()
    assert re.fullmatch(r"headway-[0-9a-f]{32}", folder.name)
    assert not folder.exists()


def test_official_time_of_a_backward_pass_uses_the_official_cache(official_times, right):
    right.new_check("ffn.ffn_backward")
    x = np.ones((2, 3))
    params = {"W_1": np.ones((3, 4)), "b_1": np.ones(4), "W_2": np.ones((4, 3)), "b_2": np.ones(3)}
    out, cache = right.ffn.ffn(x, params)
    right.ffn.ffn_backward(out, cache)
    seconds = official_times.cpu_seconds(right.calls)
    assert seconds is not None and 0 < seconds < 0.1


def test_official_time_of_a_huge_input_is_not_waited_for(official_times, right):
    right.new_check("attention.attention")
    with pytest.raises(Verdict):
        right.attention.attention(*3 * [np.ones((30_000, 1))])
    assert official_times.cpu_seconds(right.calls) is not None  # it fails for want of memory, or takes too long
    right.new_check("softmax.softmax")
    right.softmax.softmax(np.ones((8_000_000, 1)))
    assert official_times.cpu_seconds(right.calls) > 0.05


def test_official_time_that_is_too_long_changes_no_other(workers, right, monkeypatch):
    monkeypatch.setattr(official_time, "MAX_SECONDS", 0.02)
    with closing(OfficialTimes(workers, TRANSFORMER, Limits())) as times:
        for size in (*MAX_TIMEOUTS * [2500], 10):
            right.new_check("attention.attention")
            right.attention.attention(*3 * [np.ones((size, 1))])
            assert math.isfinite(times.cpu_seconds(right.calls)) == (size == 10)


def test_endless_loop_costs_about_a_second_and_little_more(submission, check_submission):
    result = check_submission(submission(softmax=LOOP), "softmax.softmax", diagnose=False)
    timeouts = [check for check in result.checks if check.status == "timeout"]
    assert len(timeouts) > 5 and "1 s of CPU time" in timeouts[0].message
    assert "less than 0.01 s" in timeouts[0].message
    again, skipped = timeouts[1:MAX_TIMEOUTS], timeouts[MAX_TIMEOUTS:]
    assert all(re.search(r"used more than 0\.\d+ s of CPU time", check.message) for check in again)
    assert all("stopped all 3 times" in check.message for check in skipped)
    assert result.used["cpu_seconds"] < 2.0


def test_function_that_has_answered_is_never_skipped(submission, check_submission):
    condition = "np.ndim(x) > 2 or axis != -1 or temperature != 1"
    loop = SOFTMAX.replace("    x = np", f"    while {condition}: pass\n    x = np", 1)
    always = check_submission(submission(softmax=LOOP), "softmax.softmax", diagnose=False)
    result = check_submission(submission(softmax=loop), "softmax.softmax", diagnose=False)
    assert result.checks[0].status == "passed"
    assert "timeout" in {check.status for check in result.checks}
    assert not any("skipped" in check.message for check in result.checks)
    assert sum("skipped" in check.message for check in always.checks) == len(always.checks) - MAX_TIMEOUTS


def test_function_on_a_looping_prerequisite_is_tried_once(submission, check_submission):
    attention = "from softmax import softmax\ndef attention(q, k, v, mask=None):\n    return softmax(q), {}\n"
    names = ("softmax.softmax", "attention.attention")
    result = check_submission(submission(softmax=LOOP, attention=attention), *names, diagnose=False)
    checks = [check for check in result.checks if check.function == names[1]]
    assert len(checks) > 5
    assert [check.id for check in checks if "skipped" not in check.message] == [checks[0].id]


@pytest.mark.parametrize(("factor", "status"), [(300.0, "timeout"), (1e6, "passed")])
def test_slow_code_passes_if_the_official_needs_time(submission, check_submission, monkeypatch, factor, status):
    monkeypatch.setattr(student, "OFFICIAL_FACTOR", factor)
    slow = SOFTMAX.replace("    x = np", f"{BUSY}    x = np", 1)
    result = check_submission(submission(softmax=slow), "softmax.softmax", diagnose=False)
    (vector,) = (check for check in result.checks if check.id.endswith("::vector"))
    assert vector.status == status


def test_slowest_right_answers_need_half_of_their_time(monkeypatch):
    monkeypatch.setattr(student, "OFFICIAL_FACTOR", student.OFFICIAL_FACTOR / 2)
    full = Limits()
    halved = {name: getattr(full, name) / 2 for name in ("least_seconds", "later_seconds", "load_seconds")}
    options = Options(official=True, diagnose=False, limits=Limits(**halved))
    result = check("loops", Path(__file__).parents[1] / "submissions" / "right" / "loops", options)
    written = [check for check in result.checks if check.status not in ("not_started", "blocked")]
    assert len(written) > 400
    assert {check.id: check.message for check in written if check.status != "passed"} == {}


def test_slow_function_keeps_the_points_of_its_quick_checks(submission, check_submission):
    slow = SOFTMAX.replace("    x = np", "    while np.ndim(x) == 1: pass\n    x = np", 1)
    result = check_submission(submission(softmax=slow), "softmax.softmax", diagnose=False)
    right = check_submission(submission(softmax=SOFTMAX), "softmax.softmax", diagnose=False)
    changed = {a.id for a, b in zip(result.checks, right.checks, strict=True) if a.status != b.status}
    assert changed == {"softmax.softmax::vector"}


def test_module_that_loops_on_import_is_stopped(submission, check_submission):
    folder = submission(softmax="while True: pass\n")
    result = check_submission(folder, "softmax.softmax", diagnose=False, limits=Limits(load_seconds=0.5))
    assert {check.status for check in result.checks} == {"timeout"}
    assert "0.5 s of CPU time" in result.checks[0].message


LINE_OF_LOOP = """import os, signal

def helper():
    return sum(iter(int, 1))

def softmax(x, axis=-1, temperature=1.0):
    {before}
    return helper()
"""
FORGE = """
    def forge(number, frame):
        for file, line in (("/etc/passwd", 1), (__file__, 9999999), (__file__, 2)):
            os.write(3, f'  File "{file}", line {line} in f\\n\x1b[31m\\n'.encode())
    signal.signal(signal.SIGUSR1, forge)
    while True: pass"""


@pytest.mark.parametrize(("before", "expected"), [
    ("pass", ("softmax.py", 4, "return sum(iter(int, 1))")), (FORGE, ("softmax.py", 2, "")),
    ("signal.signal(signal.SIGUSR1, signal.SIG_IGN)", None), ("os.close(3)", None),
])  # fmt: skip
def test_endless_loop_shows_the_line_it_was_in(submission, check_submission, before, expected):
    folder = submission(softmax=LINE_OF_LOOP.replace("{before}", before))
    found = check_submission(folder, "softmax.softmax").checks[0]
    assert found.earned == 0
    assert found.status in ("timeout", "error")
    location = found.location and (found.location["file"], found.location["line"], found.location["text"])
    assert location == expected
    if before == "pass":
        assert found.called_from == {"file": "softmax.py", "line": 8, "text": "return helper()"}


def test_line_that_drips_is_not_waited_for(workers, submission):
    drip = """
    def drip(number, frame):
        while True:
            os.write(3, b"  ")
            time.sleep(0.002)
    import time
    signal.signal(signal.SIGUSR1, drip)
    while True: pass"""
    folder = submission(softmax=LINE_OF_LOOP.replace("{before}", drip))
    with closing(StudentCode(workers, folder, TRANSFORMER, Limits(call_seconds=1.0))) as code:
        code.new_check("softmax.softmax")
        began = time.monotonic()
        with pytest.raises(TimedOut):
            code.softmax.softmax(np.ones(2))
        waited = time.monotonic() - began - code.usage.seconds
    assert waited < 5.0  # 8 s or more where a pause ends the text


def test_line_of_a_link_is_not_read(submission, check_submission, tmp_path):
    folder = submission(softmax=LOOP)
    (tmp_path / "elsewhere").write_text("# secret\n" + LOOP)
    (folder / "softmax.py").unlink()
    (folder / "softmax.py").symlink_to(tmp_path / "elsewhere")
    found = check_submission(folder, "softmax.softmax").checks[0]
    assert (found.status, found.location["line"], found.location["text"]) == ("timeout", 3, "")

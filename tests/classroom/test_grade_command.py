"""A class as a whole: broken off, gone on with, changed; processes that die; late, missing, unreadable work."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import HEADWAY, SOFTMAX, timeless
from support.waiting import wait_until

pytestmark = pytest.mark.slow

# Its warnings say where the file lies, which is another place each time, and are more than a report shows.
LOUD = """
import warnings
for number in range(300):
    warnings.warn(f"warning {number}", stacklevel=1)
"""
RIGHT, WRONG = SOFTMAX, SOFTMAX.replace("/ temperature", "* temperature")


def command(*arguments):
    return [*HEADWAY, "grade", *map(str, arguments), "--assignment", "softmax.softmax", "--no-color"]


def grade(*arguments, seed=("--seed", "0")):
    return subprocess.run(command(*arguments, *seed), capture_output=True, text=True, check=False)


def make_class(folder, count):
    for number in range(count):
        (folder / f"s{number:02}").mkdir(parents=True)
        (folder / f"s{number:02}" / "softmax.py").write_text((WRONG, RIGHT, RIGHT + LOUD)[number % 3])
    return folder


def group_of(out):
    return json.loads((out / "class.json").read_text("utf-8"))


def documents(out):
    found = {path.name: json.loads(path.read_text("utf-8")) for path in (out / "results").glob("*.json")}
    return timeless({**found, "class": group_of(out)})


def children(pid):
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)


def graders(pid):
    """The grading processes of a run."""
    found = []
    for child in children(pid):
        with contextlib.suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = make_class(tmp_path_factory.mktemp("class") / "class", 24)
    done = grade(folder, "--out", folder.parent / "whole", "-j", "2")
    assert done.returncode == 0, done.stderr
    return folder, documents(folder.parent / "whole")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc")
def test_killed_and_gone_on_with_it_is_the_same_class(uninterrupted, tmp_path):
    folder, whole = uninterrupted
    out = tmp_path / "out"
    for wanted in (1, 7, 15):
        run = subprocess.Popen(command(folder, "--out", out, "-j", "2", "--seed", "0"), stdout=subprocess.DEVNULL)
        wait_until(lambda wanted=wanted: len(list((out / "results").glob("s*.json"))) >= wanted)
        running = graders(run.pid)
        run.kill()
        run.wait()
        wait_until(lambda running=running: not any(Path(f"/proc/{pid}").exists() for pid in running))
    left = len(list((out / "results").glob("s*.json")))
    done = grade(folder, "--out", out, "-j", "2")
    assert done.returncode == 0, done.stderr
    assert "already graded" in done.stdout
    # What was finished and written down was not graded again; a kill costs at most what was under way.
    assert int(done.stdout.split(" already")[0].split()[-1]) >= left - 4
    assert documents(out) == whole


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc")
def test_a_grading_process_that_dies_is_replaced(uninterrupted, tmp_path):
    folder, whole = uninterrupted
    out = tmp_path / "out"
    run = subprocess.Popen(command(folder, "--out", out, "-j", "2", "--seed", "0"), stdout=subprocess.DEVNULL)
    for wanted in (1, 9):
        wait_until(lambda wanted=wanted: len(list((out / "results").glob("s*.json"))) >= wanted)
        os.kill(graders(run.pid)[0], signal.SIGKILL)
    assert run.wait() == 0
    assert documents(out) == whole


def test_interrupted_the_class_is_written_and_goes_on_with_its_own_seed(tmp_path):
    folder, out = make_class(tmp_path / "class", 8), tmp_path / "out"
    run = subprocess.Popen(command(folder, "--out", out, "-j", "1"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_until(lambda: len(list((out / "results").glob("s*.json"))) >= 2)
    run.send_signal(signal.SIGINT)
    said = run.communicate()[1]
    assert b"interrupted" in said
    assert b"again to resume" in said
    assert run.returncode == 130
    before = group_of(out)
    statuses = [student["status"] for student in before["students"]]
    assert {"graded", "waiting"} == set(statuses)
    assert grade(folder, "--out", out, seed=()).returncode == 0
    after = group_of(out)
    assert after["seed"] == before["seed"] > 0
    assert {student["status"] for student in after["students"]} == {"graded"}
    seeds = {json.loads(path.read_text())["seed"] for path in (out / "results").glob("*.json")}
    assert seeds == {after["seed"]}


def reused(done):
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split(" already")[0].split()[-1]) if "already graded" in done.stdout else 0


def test_only_what_changed_is_graded_again(tmp_path):
    folder, out = make_class(tmp_path / "class", 4), tmp_path / "out"
    assert reused(grade(folder, "--out", out)) == 0
    assert reused(grade(folder, "--out", out)) == 4
    (folder / "s00" / "softmax.py").write_text(RIGHT)
    assert reused(grade(folder, "--out", out)) == 3
    assert group_of(out)["students"][1]["earned"] == group_of(out)["students"][0]["earned"]
    (out / "results" / "s02.json").unlink()
    (out / "results" / "s03.json").write_text("{")
    assert reused(grade(folder, "--out", out)) == 2
    assert reused(grade(folder, "--out", out, "--only", "s02", "--force")) == 3
    assert reused(grade(folder, "--out", out, "--feedback", "none")) == 0
    assert reused(grade(folder, "--out", out, "--feedback", "none", "--call-seconds", "9")) == 0
    assert reused(grade(folder, "--out", out, "--feedback", "none", "--call-seconds", "9", seed=("--seed", "1"))) == 0
    (out / "journal.jsonl").write_bytes((out / "journal.jsonl").read_bytes()[:-20])  # the power failed in a line
    done = grade(folder, "--out", out, "--feedback", "none", "--call-seconds", "9", seed=())
    assert reused(done) == 3 and group_of(out)["seed"] == 1


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    import fcntl

    folder = make_class(tmp_path / "class", 1)
    (tmp_path / "out").mkdir()
    with open(tmp_path / "out" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = grade(folder, "--out", tmp_path / "out")
    assert done.returncode == 2 and "another headway grade is writing" in done.stderr


def test_a_course_with_everything(tmp_path):
    folder = tmp_path / "class"
    for name, text in {"ada": WRONG, "bo": RIGHT, "chen": RIGHT}.items():
        for attempt, content in (("attempt 1", RIGHT), ("attempt 2", text)):
            (folder / name / attempt).mkdir(parents=True)
            (folder / name / attempt / "softmax.py").write_text(content)
    shutil.rmtree(folder / "chen" / "attempt 1")
    shutil.rmtree(folder / "bo")
    (folder / "dara").mkdir()
    (folder / "dara" / "softmax.py").symlink_to(folder / "chen" / "attempt 2" / "softmax.py")
    (folder / "eve.zip").write_bytes(b"PK\x03\x04 no archive")
    (folder / "course.toml").write_text(
        'title = "CS 601"\nroster = "people.csv"\nattempts = "best"\n[checks]\nhidden = ["*::rows"]\n'
        "[assignments.softmax]\npoints = 10\nweight = 100\n"
    )
    (folder / "people.csv").write_text(
        "id,name,email\n1,Ada L,ada@x.edu\n2,Bo B,bo@x.edu\n3,Chen,chen@x.edu\n4,Dara,dara@x.edu\n5,Eve,eve@x.edu\n"
    )
    done = grade(folder, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    group = group_of(tmp_path / "out")
    found = {student["name"]: student for student in group["students"]}
    assert list(found) == ["Ada L", "Bo B", "Chen", "Dara", "Eve"]
    assert [one["status"] for one in found.values()] == ["graded", "missing", "graded", "unreadable", "unreadable"]
    ada = found["Ada L"]
    assert (ada["attempt"], ada["attempts"], ada["id"], ada["earned"]) == (1, 2, "1", 10.0)
    assert (ada["score"], ada["out_of"], ada["file"]) == (100.0, 100.0, "results/ada#1.json")
    assert found["Bo B"]["file"] is None and found["Bo B"]["score"] == 0.0
    assert "link" in found["Dara"]["reason"] and "archive" in found["Eve"]["reason"]
    assert "2 unreadable" in done.stdout and "1 missing" in done.stdout
    document = json.loads((tmp_path / "out" / found["Dara"]["file"]).read_text("utf-8"))
    assert document["points"]["earned"] == 0.0


def test_a_mistake_in_the_policy_is_one_line(tmp_path):
    folder = make_class(tmp_path / "class", 1)
    (folder / "course.toml").write_text("[late]\npenalty = 0.1\n")
    done = grade(folder, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "course.toml, line 2: late.penalty: unknown key" in done.stderr and "Traceback" not in done.stderr


def test_a_student_who_is_not_there(tmp_path):
    folder = make_class(tmp_path / "class", 2)
    done = grade(folder, "--out", tmp_path / "out", "--only", "s0l")
    assert done.returncode == 2 and "Did you mean" in done.stderr

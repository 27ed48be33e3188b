"""Test `headway grade` with its processes: killed, interrupted and resumed runs, processes that die."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from support.commands import HEADWAY, SOFTMAX, invoke, run_program
from support.deadly_class import DEADLY, deadly_site, make_deadly_class
from support.editing import write_files
from support.process_tree import children
from support.softmax_class import class_document, documents, grade_arguments, make_class
from support.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc"),
]
COUNT = 18


def start(*arguments, seed=("--seed", "0"), **streams):
    return subprocess.Popen([*HEADWAY, *grade_arguments(*arguments, seed=seed)], text=True, **streams)


def finish(*arguments, seed=("--seed", "0")):
    """Run `headway grade` in a process of its own and return its standard output."""
    return run_program(*HEADWAY, *grade_arguments(*arguments, seed=seed)).stdout


def graded(out):
    return len(list((out / "results").glob("s*.json")))


def graders(pid):
    processes = []
    for child in children(pid):
        with contextlib.suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                processes.append(child)
    return processes


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """A class, and its documents when it is graded in one run."""
    folder = make_class(tmp_path_factory.mktemp("class") / "class", COUNT)
    finish(folder, "--out", folder.parent / "whole", "-j", "2")
    return folder, documents(folder.parent / "whole")


def test_grade_killed_and_resumed_gives_the_same_class(uninterrupted, tmp_path):
    folder, whole = uninterrupted
    out = tmp_path / "out"
    for wanted in (1, 6, 12):
        run = start(folder, "--out", out, "-j", "2", stdout=subprocess.DEVNULL)
        wait_until(lambda wanted=wanted: graded(out) >= wanted)
        running = graders(run.pid)
        run.kill()
        run.wait()
        wait_until(lambda running=running: not any(Path(f"/proc/{pid}").exists() for pid in running))
    stored = graded(out)
    # A kill loses at most the tasks that were under way.
    assert int(finish(folder, "--out", out, "-j", "2").split(" already graded")[0].split()[-1]) >= stored - 4
    assert documents(out) == whole


def test_grade_process_that_dies_is_replaced(uninterrupted, tmp_path):
    folder, whole = uninterrupted
    out = tmp_path / "out"
    run = start(folder, "--out", out, "-j", "2", stdout=subprocess.DEVNULL)
    for wanted in (1, 8):
        wait_until(lambda wanted=wanted: graded(out) >= wanted)
        os.kill(graders(run.pid)[0], signal.SIGKILL)
    assert run.wait() in (0, 3)  # 3: a process was killed while it graded
    students = class_document(out)["students"]
    failed = [student["submission"] for student in students if student["status"] == "failed"]
    assert len(failed) <= 2
    assert all("killed by signal 9" in student["reason"] for student in students if student["submission"] in failed)
    first = {name: document for name, document in documents(out).items() if name != "class"}
    assert first == {name: whole[name] for name in first}
    assert len(first) == COUNT - len(failed)
    finish(folder, "--out", out, "-j", "2")
    assert documents(out) == whole


@pytest.mark.parametrize("processes", ["1", "2"])
def test_deadly_submissions_fail_once_and_alone(tmp_path, processes):
    deadly = range(1, 9)  # more in a row than deaths that end a run
    folder, environment, log = make_deadly_class(tmp_path, 12, deadly)
    command = (*HEADWAY, *grade_arguments(folder, "--out", tmp_path / "out", "-j", processes))
    for run_number in (1, 2):
        run_program(*command, env=environment, code=3)
        assert sorted(log.read_text().split()) == sorted(run_number * [f"s{number:02}" for number in deadly])
    students = {student["submission"]: student for student in class_document(tmp_path / "out")["students"]}
    for number in range(12):
        student = students[f"s{number:02}"]
        assert student["status"] == ("failed" if number in deadly else "graded")
        assert ("exit code 7" in student["reason"]) == (number in deadly)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_deadly_attempt_is_charged_to_its_student_alone(tmp_path, processes):
    attempts = {"ada": [SOFTMAX, SOFTMAX, SOFTMAX, DEADLY], "bo": [SOFTMAX, SOFTMAX], "cy": [SOFTMAX]}
    files = {f"{student}/attempt {number}/softmax.py": f"{code}# {number}\n"
             for student, codes in attempts.items() for number, code in enumerate(codes, start=1)}  # fmt: skip
    policy = "attempts = 'best'\n[limits]\nstudent_attempts = 3\nstudent_seconds = 2.5\n"
    folder, out = write_files(tmp_path / "class", {**files, "course.toml": policy}), tmp_path / "out"
    python_path, log = deadly_site(tmp_path, seconds=3.0)
    of_others = {"bo#1", "bo#2", "cy"}
    run = partial(invoke, *grade_arguments(folder, "--out", out, "-j", processes), PYTHONPATH=python_path)

    first = run()
    assert first.returncode == 3, first.stdout + first.stderr
    assert {path.stem for path in (out / "results").glob("*.json")} == of_others
    ada, bo, cy = class_document(out)["students"]
    assert ada["status"] == "failed" and "exit code 7" in ada["reason"]
    assert "3 of 4 attempts" in ada["limit_note"]  # one too many, and two without any time left
    assert (bo["status"], bo["limit_note"]) == (cy["status"], cy["limit_note"]) == ("graded", "")

    assert run().returncode == 0
    assert {path.stem for path in (out / "results").glob("*.json")} == of_others | {"ada#2", "ada#3"}
    ada = class_document(out)["students"][0]
    assert (ada["status"], ada["earned"]) == ("graded", bo["earned"])
    assert {grade["attempt"] for grade in ada["assignments"].values()} == {3}
    assert "1 of 4 attempts" in ada["limit_note"]
    assert any(note.startswith("attempt 4: internal error") for note in ada["notes"])
    assert log.read_text().split() == ["ada", "ada"]


def test_grade_interrupted_resumes_with_the_same_seed(tmp_path):
    folder, out = make_class(tmp_path / "class", 8), tmp_path / "out"
    run = start(folder, "--out", out, "-j", "1", seed=(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_until(lambda: graded(out) >= 2)
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate()
    assert "interrupted" in stderr and "to resume" in stderr
    assert run.returncode == 130
    before = class_document(out)
    assert {student["status"] for student in before["students"]} == {"graded", "waiting"}
    finish(folder, "--out", out, "-j", "1", seed=())
    after = class_document(out)
    assert after["seed"] == before["seed"] > 0
    assert {student["status"] for student in after["students"]} == {"graded"}
    assert {json.loads(path.read_text())["seed"] for path in (out / "results").glob("*.json")} == {after["seed"]}

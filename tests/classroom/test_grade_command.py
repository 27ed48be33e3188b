"""Test `headway grade` on whole classes, without grading processes: what is graded again, policies, attempts."""

import itertools
import os
from dataclasses import replace

import pytest
from support.editing import write_files
from support.reading import read_json
from support.softmax_class import RIGHT, WRONG, class_document, grade, make_class

from autograder.classroom import grade as grading
from autograder.classroom.grading import worker
from autograder.classroom.policy.model import Policy
from autograder.classroom.storage.result_store import locked
from autograder.classroom.submissions.account import Account
from autograder.classroom.submissions.model import Source
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import SubmissionResult
from autograder.errors import UsageError

pytestmark = pytest.mark.usefixtures("grading_in_process")


def reused(done):
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split(" already")[0].split()[-1]) if "already graded" in done.stdout else 0


@pytest.mark.slow
def test_grade_only_what_changed_is_graded_again(tmp_path):
    folder, out = make_class(tmp_path / "class", 4), tmp_path / "out"
    assert reused(grade(folder, "--out", out)) == 0
    assert reused(grade(folder, "--out", out)) == 4
    (folder / "s00" / "softmax.py").write_text(RIGHT)
    assert reused(grade(folder, "--out", out)) == 3
    assert class_document(out)["students"][1]["earned"] == class_document(out)["students"][0]["earned"]
    (out / "results" / "s02.json").unlink()
    (out / "results" / "s03.json").write_text("{")
    assert reused(grade(folder, "--out", out)) == 2
    assert reused(grade(folder, "--out", out, "--only", "s02", "--force")) == 3
    assert reused(grade(folder, "--out", out, "--feedback", "none")) == 0
    assert reused(grade(folder, "--out", out, "--feedback", "none", "--call-seconds", "9")) == 0
    assert reused(grade(folder, "--out", out, "--feedback", "none", "--call-seconds", "9", seed=("--seed", "1"))) == 0
    (out / "journal.jsonl").write_bytes((out / "journal.jsonl").read_bytes()[:-20])  # as after a power cut
    done = grade(folder, "--out", out, "--feedback", "none", "--call-seconds", "9", seed=())
    assert reused(done) == 3 and class_document(out)["seed"] == 1
    (folder / "course.toml").write_text('[checks]\nhidden = ["softmax.softmax::rows"]\n')
    assert reused(grade(folder, "--out", out, "--feedback", "none", "--call-seconds", "9", seed=())) == 0


def test_grade_folder_of_running_run_is_refused(tmp_path):
    folder = make_class(tmp_path / "class", 1)
    with locked(tmp_path / "out"):
        done = grade(folder, "--out", tmp_path / "out")
    assert done.returncode == 2 and "another headway grade" in done.stderr


@pytest.mark.slow
def test_grade_attempts_roster_policy_and_unreadable_work(tmp_path):
    policy = (
        'title = "CS 601"\nroster = "people.csv"\nattempts = "best"\n[checks]\nhidden = ["*::rows"]\n'
        "[assignments.softmax]\npoints = 10\nweight = 100\n"
    )
    people = (
        "id,name,email\n1,Ada L,ada@x.edu\n2,Bo B,bo@x.edu\n3,Chen,chen@x.edu\n4,Dara,dara@x.edu\n5,Eve,eve@x.edu\n"
        "6,Fay,fay\n7,Gus,gus\n8,Hal,hal\n"
    )
    folder = write_files(tmp_path / "class", {
        "ada/attempt 1/softmax.py": RIGHT, "ada/attempt 2/softmax.py": WRONG, "chen/attempt 2/softmax.py": RIGHT,
        "eve.zip": b"PK\x03\x04 no archive", "fay/essay.py": "print(1)", "hal/essay.pdf": b"%PDF",
        "gus/softmax.py": "def softmax(x:\n", "course.toml": policy, "people.csv": people,
    })  # fmt: skip
    (folder / "dara").mkdir()
    (folder / "dara" / "softmax.py").symlink_to(folder / "chen" / "attempt 2" / "softmax.py")
    done = grade(folder, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    group = class_document(tmp_path / "out")
    found = {student["name"]: student for student in group["students"]}
    assert list(found) == ["Ada L", "Bo B", "Chen", "Dara", "Eve", "Fay", "Gus", "Hal"]
    expected = ["graded", "missing", "graded", "unreadable", "unreadable", "unreadable", "graded", "unreadable"]
    assert [one["status"] for one in found.values()] == expected
    assert "only essay.py" in found["Fay"]["reason"] and "no Python file" in found["Hal"]["reason"]
    [note] = found["Gus"]["notes"]
    assert "softmax.py: SyntaxError in line 1" in note
    ada = found["Ada L"]
    grades = {name: student["assignments"]["softmax"] for name, student in found.items()}
    assert (ada["id"], ada["earned"], ada["score"], ada["out_of"]) == ("1", 10.0, 100.0, 100.0)
    assert [grades["Ada L"][key] for key in ("attempt", "attempts", "file")] == [1, 2, "results/ada#1.json"]
    assert grades["Bo B"]["file"] is None and found["Bo B"]["score"] == 0.0
    assert "link" in found["Dara"]["reason"] and "archive" in found["Eve"]["reason"]
    assert "4 unreadable" in done.stdout and "1 missing" in done.stdout
    assert read_json(tmp_path / "out" / grades["Dara"]["file"])["points"]["earned"] == 0.0


@pytest.mark.parametrize(("policy", "options", "words"), [
    ("[late]\npenalty = 0.1\n", (), "line 2: late.penalty: "), ("", ("--only", "s0l"), "Did you mean")
])  # fmt: skip
def test_grade_invalid_policy_or_unknown_student_is_refused(tmp_path, policy, options, words):
    folder = write_files(make_class(tmp_path / "class", 2), {"course.toml": policy})
    done = grade(folder, "--out", tmp_path / "out", *options)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


STORED = ("journal.jsonl", "class.json", "grades.csv", "run.json", ".lock")
PIPES_AND_FOLDERS = itertools.product(STORED, (os.mkfifo, os.mkdir))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "make"), [*PIPES_AND_FOLDERS, ("results/s00.json", os.mkfifo)])
def test_grade_pipe_or_folder_in_place_of_a_file(tmp_path, name, make):
    folder, out = make_class(tmp_path / "class", 1), tmp_path / "out"
    grade(folder, "--out", out)
    (out / name).unlink()
    make(out / name)
    done = grade(folder, "--out", out)
    if done.returncode:
        assert done.returncode == 2, done.stderr
        assert str(out / name) in done.stderr and "Traceback" not in done.stderr
    else:
        assert (out / name).is_file() and class_document(out)["students"][0]["status"] == "graded"


def test_grade_class_fresh_inputs_without_torch_is_refused(tmp_path, monkeypatch):
    folder = write_files(tmp_path / "class", {"ada/softmax.py": ""})
    monkeypatch.setattr(grading, "torch_version", lambda: None)
    source = Source("", ("softmax",), folder, functions=tuple(TRANSFORMER.functions))
    plan = grading.GradingPlan([source], tmp_path / "out", Policy(), TRANSFORMER, seed=3, unsafe=True)
    with pytest.raises(UsageError, match="--seed 0"):
        grading.run(plan, lambda progress: None)
    assert not (tmp_path / "out" / "class.json").exists()
    with pytest.raises(UsageError, match="has just drawn a seed"):
        grading.run(replace(plan, seed=4), lambda progress: None)
    grading._require_torch(replace(plan, seed=0))  # The answers to the public inputs are stored.


def test_submission_without_a_result_says_why():
    result, account = SubmissionResult("ada", "", 0, [], ["it broke", "more"]), Account()
    assert worker._outcome(result, account, TRANSFORMER) == ("failed", "internal error: it broke")
    result.internal_errors, account.files = [], [{"name": f"{number}.pdf"} for number in range(4)]
    assert worker._outcome(result, account, TRANSFORMER)[1].endswith("only 0.pdf, 1.pdf, 2.pdf, and 1 more")
    account.modules["softmax.py"] = b""
    assert worker._outcome(result, account, TRANSFORMER) == ("graded", "")

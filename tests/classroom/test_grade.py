"""Test what is checked before a class is graded, and the table shown afterwards."""

import io

import pytest
from rich.console import Console
from support.softmax_class import graded_class

from autograder.classroom import grade
from autograder.classroom.policy.model import Policy
from autograder.classroom.storage.result_store import JournalEntry
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student
from autograder.classroom.submissions.student_names import StudentNames
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.report import class_records, class_summary, grading_progress


def test_grade_class_fresh_inputs_without_torch_is_refused(tmp_path, monkeypatch):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "softmax.py").write_text("")
    monkeypatch.setattr(grade, "torch_version", lambda: None)
    source = Source("", ("softmax",), tmp_path / "class", functions=tuple(TRANSFORMER.functions))
    plan = grade.GradingPlan([source], tmp_path / "out", Policy(), TRANSFORMER, seed=3, unsafe=True)
    with pytest.raises(UsageError, match="--seed 0"):
        grade.run(plan, lambda progress: None)
    assert not (tmp_path / "out" / "class.json").exists()


def test_only_ambiguous_name_is_refused():
    students = [Student(f"anna{n}", "Anna Schmidt", str(n)) for n in (1, 2)]
    students.append(Student("bo", "anna1", "3"))
    with pytest.raises(UsageError, match=r"several.* 'submission:anna1', 'anna2'"):
        StudentNames(students).require("Anna Schmidt", "--only")
    assert [StudentNames(students).require(name, "--only") for name in ("submission:anna1", "3")] == ["anna1", "bo"]


def test_assignments_ignore_results_of_other_students():
    group = graded_class(ClassMember("ada", attempts=(Attempt(()),)))
    group.entries = {
        name: JournalEntry(name, "key", functions={"softmax.softmax": (0.0, 9.0 if name == "ada.json" else 28.0)})
        for name in ("ada.json", "bo.json")
    }
    assert [one.possible for one in group.assignments()] == [9.0]


@pytest.mark.parametrize(
    ("days", "said"), [(0, ""), (1, "1 day late: 3 points deducted"), (2, "2 days late: 3 points")]
)
def test_table_shows_missing_and_late_students(tmp_path, days, said):
    student = {
        "name": "Ada", "submission": "ada", "status": "graded", "reason": "", "notes": [], "statuses": {"passed": 9},
        "assignments": {},
        "score": 27.0, "out_of": 30.0, "penalty": 3.0 if days else 0.0, "late_days": days,
    }  # fmt: skip
    missing = {**student, "name": "Mia", "submission": "s013", "status": "missing", "reason": "no submission"}
    missing.update(score=0.0, statuses={}, late_days=0, penalty=0.0)
    shown = io.StringIO()
    document = {"students": [student, missing], "seed": 1, "seconds": 1.0}
    grading_progress.render(document, tmp_path, Console(file=shown, width=200))
    assert "Mia" in shown.getvalue() and "s013" not in shown.getvalue()
    assert "90% · 1 missing" in shown.getvalue() and said in shown.getvalue()
    assert ("late" in shown.getvalue()) is (days > 0)


def test_table_same_names_and_unreadable_work(tmp_path):
    student = {
        "name": "Ada", "submission": "a1", "status": "graded", "reason": "", "notes": [], "statuses": {"failed": 9},
        "score": 0.0, "out_of": 30.0, "penalty": 0.0, "late_days": 0, "assignments": {},
    }  # fmt: skip
    broken = {**student, "name": "Bo", "submission": "b1", "status": "unreadable", "reason": "no archive"}
    broken["notes"] = ["softmax: no archive"]
    shown = io.StringIO()
    students = [student, {**student, "submission": "a2"}, {**broken, "statuses": {"not_started": 9}}]
    grading_progress.render({"students": students, "seed": 1, "seconds": 1.0}, tmp_path, Console(file=shown, width=200))
    text = shown.getvalue()
    assert "a1 Ada" in text and "a2 Ada" in text and "b1" not in text and text.count("no archive") == 1
    assert "unreadable: no archive" in text and "not started" not in text


def test_pass_rates_are_among_the_students_who_started():
    found = class_records.ClassRecords("CS", functions=["softmax.softmax"])
    for status in ("passed", "failed", "not_started", "not_started"):
        statuses = {"softmax.softmax": status}
        record = class_records.StudentRecord("s", "", "s", "graded", "", 5.0, 10.0, 0, True, statuses=statuses)
        found.students.append(record)
    shown = io.StringIO()
    class_summary.render(found, Console(file=shown, width=200))
    assert "50%" in next(line for line in shown.getvalue().splitlines() if "softmax.softmax" in line)


def test_summary_lists_low_scores_and_missing_students():
    def one(name, score, status="graded"):
        return class_records.StudentRecord(name, "", name, status, "", score, 10.0, 0, None)

    found = class_records.ClassRecords("CS")
    found.students = [one(f"s{n:02}", n / 10) for n in range(20)]
    found.students += [one("half", 5.0), one("best", 10.0), one("mia", 0.0, "missing"), one("kim", 0.0, "unreadable")]
    shown = io.StringIO()
    class_summary.render(found, Console(file=shown, width=400))
    lines = shown.getvalue().splitlines()
    (low,) = (line for line in lines if line.startswith("Below 50%: "))
    assert low.startswith("Below 50%: s00 0%, s01 1%, ") and low.endswith("s11 11% … and 8 more")
    assert "No submission: mia" in lines
    assert not any("half" in line or "best" in line for line in lines)

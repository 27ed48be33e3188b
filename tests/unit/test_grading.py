"""What a class is refused for before anything of it is graded."""

import io

import pytest
from rich.console import Console

from autograder import reference
from autograder.course import grading
from autograder.course.handed_in import Student
from autograder.course.policy import Policy
from autograder.engine import Options
from autograder.errors import UsageError
from autograder.report import table


def test_fresh_inputs_need_pytorch_before_the_first_submission(tmp_path, monkeypatch):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "softmax.py").write_text("")
    monkeypatch.setattr(reference, "torch_version", lambda: None)
    with pytest.raises(UsageError, match="--seed 0"):
        grading.grade(
            tmp_path / "class", tmp_path / "out", Options(), Policy(), grading.Plan(1, unsafe=True), lambda seen: None
        )
    assert not (tmp_path / "out" / "class.json").exists()


def test_a_name_that_several_have_chooses_nobody():
    students = [Student(f"anna{n}", "Anna Schmidt", str(n), attempts=()) for n in (1, 2)]
    students.append(Student("bo", "anna1", "3", attempts=()))
    with pytest.raises(UsageError, match=r"several.* 'anna1', 'anna2'"):
        grading._chosen(students, ("Anna Schmidt",))
    assert grading._chosen(students, ("anna1", "3")) == {"anna1", "bo"}


@pytest.mark.parametrize(
    ("due", "submitted_at", "late_days", "said"),
    [
        ("2026-10-01T23:59:00+02:00", None, 0, "not known of 1 of 1 submission: they count"),
        ("2026-10-01T23:59:00+02:00", "2026-10-03T10:00:00+02:00", 2, "2 days late: 3 points less"),
        ("2026-10-01T23:59:00+02:00", None, 1, "1 day late: 3 points less"),
        (None, None, 0, ""),
    ],
)
def test_the_table_says_what_the_due_date_did(tmp_path, due, submitted_at, late_days, said):
    student = {
        "name": "Ada", "submission": "ada", "status": "graded", "reason": "", "notes": [], "statuses": {"passed": 9},
        "score": 27.0, "out_of": 30.0, "penalty": 3.0 if late_days else 0.0, "late_days": late_days,
        "submitted_at": submitted_at, "attempts": 1,
    }  # fmt: skip
    missing = {**student, "name": "Mia", "submission": "s013", "status": "missing", "reason": "nothing was handed in"}
    missing.update(score=0.0, statuses={}, attempts=0, submitted_at=None, late_days=0, penalty=0.0)
    document = {"students": [student, missing], "seed": 1, "seconds": 1.0, "assignments": [{"due": due}]}
    shown = io.StringIO()
    table.render(document, tmp_path, Console(file=shown, width=200))
    assert "Mia" in shown.getvalue()
    assert "s013" not in shown.getvalue()
    assert "Mean 90 % of 1 graded · 1 missing" in shown.getvalue()
    assert said in shown.getvalue()
    assert ("late: 3" in shown.getvalue(), "not known" in shown.getvalue()) == (late_days > 0, "not known" in said)

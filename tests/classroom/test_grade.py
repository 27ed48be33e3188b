"""Test what is checked before a class is graded, and what an assignment is worth."""

import pytest
from support.editing import write_files
from support.softmax_class import graded_class

from autograder.classroom import grade
from autograder.classroom.policy.model import Policy
from autograder.classroom.storage.result_store import JournalEntry
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student
from autograder.classroom.submissions.student_names import StudentNames
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError


def test_grade_class_fresh_inputs_without_torch_is_refused(tmp_path, monkeypatch):
    folder = write_files(tmp_path / "class", {"ada/softmax.py": ""})
    monkeypatch.setattr(grade, "torch_version", lambda: None)
    source = Source("", ("softmax",), folder, functions=tuple(TRANSFORMER.functions))
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
    points = {"ada.json": (0.0, 9.0), "bo.json": (0.0, 28.0)}
    group.entries = {name: JournalEntry(name, "", functions={"softmax.softmax": one}) for name, one in points.items()}
    assert [one.possible for one in group.assignments()] == [9.0]

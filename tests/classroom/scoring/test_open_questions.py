"""What a person should look at before the grades of a student count."""

import pytest

from autograder.classroom.scoring.class_document import open_questions
from autograder.classroom.scoring.student_scores import StudentDecisions
from autograder.classroom.storage.result_store import JournalEntry

BEGUN = {"softmax": {"passed": 1}, "attention": {"not_started": 9}}


def questions(statuses, entry, **changes):
    about = {"excused": False, "by_hand": False, "reason": "", **changes}
    grades = {name: {"status": status, **about} for name, status in statuses.items()}
    entries = {name: entry for name, status in statuses.items() if status == "graded"}
    found = open_questions((), grades, entries, StudentDecisions())
    return [(question["kind"], question["assignment"]) for question in found]


@pytest.mark.parametrize(("status", "kind"), [("waiting", "no_result"), ("failed", "no_result"), ("unreadable",) * 2])
def test_grade_that_is_no_result_is_open_unless_a_person_gave_it(status, kind):
    assert questions({"softmax": status}, None) == [(kind, "softmax")]
    assert questions({"softmax": status}, None, by_hand=True) == []
    assert questions({"softmax": status}, None, excused=True) == []


def test_submission_that_cannot_be_read_is_one_question():
    assert questions({"softmax": "unreadable", "attention": "unreadable"}, None) == [("unreadable", "")]


def test_several_versions_are_open_unless_the_score_was_given_by_hand():
    entry = JournalEntry("ada.json", "", checks=BEGUN, rivals={"softmax": ["softmax.py", "softmax_final.py"]})
    assert questions({"softmax": "graded"}, entry) == [("versions", "softmax")]
    assert questions({"softmax": "graded"}, entry, by_hand=True) == []


def test_work_for_another_assignment_is_open_only_if_nothing_else_was_submitted_for_it():
    entry = JournalEntry("ada.json", "", checks=BEGUN, files={"attention": "attention.py"})
    assert questions({"softmax": "graded", "attention": "missing"}, entry) == [("elsewhere", "attention")]
    assert questions({"softmax": "graded", "attention": "waiting"}, entry) == [("no_result", "attention")]

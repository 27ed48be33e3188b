"""The graded class as it is read: names, the roster, and the results of the files that each grade names."""

from pathlib import Path

import msgspec
import pytest
from support.result_documents import check, document

from autograder.classroom.policy.model import ChecksPolicy, Policy
from autograder.classroom.storage import gradebook
from autograder.classroom.storage.gradebook import Gradebook
from autograder.core.csv_table import CsvTable
from autograder.errors import UsageError


def student(submission, name="", id="", roster=(), **files):
    assignments = {assignment: {"file": file} for assignment, file in files.items()}
    return {"submission": submission, "name": name, "id": id, "roster": dict(roster), "assignments": assignments}


def book_of(*students, title="", out=Path("out"), **policy):
    course = {"title": title, "policy": msgspec.to_builtins(Policy(**policy))}
    return Gradebook(out, {"course": course, "students": students, "assignments": [{"name": "attention"}]})


def test_names_of_namesakes_end_with_an_id():
    people = [student("a", "Jo L.", "1"), student("b", "Jo L."), student("c", id="7"), student("d"), student("e", "Al")]
    assert book_of(*people).names == {"a": "Jo L. (1)", "b": "Jo L. (b)", "c": "7", "d": "d", "e": "Al"}


def test_title_is_that_of_the_course_or_the_name_of_the_folder(tmp_path):
    assert book_of(title="NLP", out=tmp_path / "cs").title == "NLP" and book_of(out=tmp_path / "cs").title == "cs"


def test_roster_has_the_students_that_are_on_it():
    people = [student("x"), student("a", roster={"id": "1", "name": "Ada"}), student("b", roster={"id": "2"})]
    assert book_of(*people).roster == CsvTable(["id", "name"], [["1", "Ada"], ["2", ""]])
    assert book_of(student("x")).roster == CsvTable([], [])


def test_assignment_that_was_not_graded_is_refused():
    book_of().require_graded(["attention"])
    with pytest.raises(UsageError, match=r"'softmax'\. Name one of these: attention"):
        book_of().require_graded(["attention", "softmax"])


def test_result_of_a_student_is_put_together_from_the_files_of_the_assignments(monkeypatch):
    one, two = document(check()), document(check("attention.softmax", "failed"))
    two["assignments"] += [{**two["assignments"][0], "number": 1, "name": "softmax"}]
    stored = {"one.json": one, "two.json": {**two, "created": "2027", "notes": ["late"]}, "gone.json": None}
    monkeypatch.setattr(Gradebook, "_read", lambda self, folder, file, schema: stored[file])
    ada = student("ada", attention="one.json", softmax="two.json", ffn="gone.json", gpt=None)
    result = book_of(ada).result_of(ada)
    assert [entry["name"] for entry in result["assignments"]] == ["softmax", "attention"]
    assert (result["points"], result["passed"]) == ({"earned": 1.0, "possible": 2.0}, False)
    assert (result["created"], result["notes"], result["seconds"]) == ("2027", ["late"], 0.2)
    assert book_of(ada).result_of(ada, ["attention"]) == one and book_of(ada).result_of(ada, ["ffn"]) is None
    assert [entry["name"] for entry in book_of(ada).result_of(ada, ["softmax"])["assignments"]] == ["softmax"]
    for feedback, message in (("full", "secret"), ("summary", "")):
        one["assignments"][0]["functions"][0]["checks"][0].update(status="failed", message="secret")
        hiding = book_of(ada, feedback=feedback, checks=ChecksPolicy(hidden=("attention.*",)))
        (shown,) = hiding.result_of(ada, ["attention"])["assignments"][0]["functions"][0]["checks"]
        assert shown["message"] == message


@pytest.mark.parametrize(("grade", "expected"), [
    ({"status": "waiting"}, True), ({"status": "failed"}, True), ({"status": "unreadable"}, False),
    ({"status": "failed", "by_hand": True}, False), ({"status": "failed", "excused": True}, False),
])  # fmt: skip
def test_score_is_not_known_until_a_run_or_a_person_gives_it(grade, expected):
    assert gradebook.has_no_result({"by_hand": False, "excused": False, **grade}) is expected

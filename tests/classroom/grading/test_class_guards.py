"""Test what is refused before a class is graded, and what the instructor is warned of."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.softmax_class import graded_class

from autograder.classroom.grading import class_guards
from autograder.classroom.policy.model import AssignmentPolicy, Policy
from autograder.classroom.scoring.class_document import GradedClass
from autograder.classroom.storage.result_store import JournalEntry, ResultStore
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError


@pytest.mark.parametrize("there", ["bo.json", "Zo%C3%AB.json", "Zo%C3%AB#2.json", "Zo%C3%AB+gpt#2.json", ""])
def test_require_same_class_other_results_are_refused(tmp_path, there):
    group = graded_class(ClassMember("Zoë", attempts=ONE), ClassMember("mia"))
    results = ResultStore(tmp_path)
    results.entries = {there: JournalEntry(there, "key")} if there else {}
    refused = pytest.raises(UsageError, match=r"another class \(1 submission.*'bo'")
    with refused if there == "bo.json" else nullcontext():
        class_guards.require_same_class(group, {""}, results)


DUE = datetime(2026, 10, 1, tzinfo=UTC)
ONE = (Attempt(()),)


@pytest.mark.parametrize(("attempt", "words"), [
    (Attempt(()), "No date is known for 1 of 1"), (Attempt((), {"softmax": DUE}), ""), (Attempt((), late=True), ""),
    (Attempt((), late=False), ""), (Attempt((), late=False, late_by=timedelta(0)), "0 of 1 submission. The due date"),
    (Attempt((), late=True, late_by=timedelta(2)), "1 of 1 submission. The due date in course.toml is not compared"),
])  # fmt: skip
def test_warn_of_unknown_dates(attempt, words):
    group = graded_class(ClassMember("ada", attempts=(attempt,)), ClassMember("mia"))
    assert class_guards.warn_of_unknown_dates(group) == []
    group.policy = Policy(assignments={"softmax": AssignmentPolicy(due=DUE)})
    assert [words in warning for warning in class_guards.warn_of_unknown_dates(group)] == [True] * bool(words)


@pytest.mark.parametrize(("folder", "out", "where"), [
    ("class", "class", "is the folder"), ("class", "class/out", "is inside"),
    ("class", "class/../class/a/b", "is inside"), ("term/class", "term", "contains"),
    ("class", "class-out", ""), ("class", "out/class", ""),
])  # fmt: skip
def test_require_separate_folders(tmp_path, folder, out, where):
    (tmp_path / folder).mkdir(parents=True)
    source = Source("", ("softmax",), tmp_path / folder)
    with pytest.raises(UsageError, match=f"{where}.*Choose a folder beside it") if where else nullcontext():
        class_guards.require_separate_folders([source], tmp_path / out)


@pytest.mark.parametrize(("found", "size", "refused"), [(3, 8, True), (4, 8, False), (0, 4, False), (2, 5, True)])
def test_require_most_of_roster_counts_attempts(found, size, refused):
    source = Source("softmax", ("softmax",), Path("downloads"))
    names = [*(f"s{n}" for n in range(size)), "attention"]  # the last is not on the roster
    work = {name: {"softmax": ClassMember(name, attempts=ONE)} for name in (*names[:found], "attention")}
    students = [Student(name, work=work.get(name, {})) for name in names]
    for people, others in ((students, "'attention'"), (students[:-1], "")):
        message = rf"of {found} of the {size} students.*{others}.*--partial"
        with pytest.raises(UsageError, match=message) if refused else nullcontext():
            class_guards.require_most_of_roster(people, [source], size)


@pytest.mark.parametrize(("on_roster", "others", "refused"), [(0, 2, True), (1, 2, False), (0, 0, False)])
def test_require_submissions_from_roster(on_roster, others, refused):
    member = ClassMember("x", attempts=ONE)
    people = [Student(f"s{n}", work={"softmax": member} if n < on_roster else {}) for n in range(3)]
    people += [Student(f"other{n}", work={"softmax": member}) for n in range(others)]
    with pytest.raises(UsageError, match=r"none of the 2 students.*'other0'") if refused else nullcontext():
        class_guards.require_submissions_from_roster(people, 3)


@pytest.mark.parametrize(("status", "warned"), [("not_started", True), ("failed", False)])
def test_warn_of_wrong_folders(status, warned):
    source = Source("softmax", ("softmax",), Path("downloads"))
    member = ClassMember("ada", attempts=ONE)
    files = ("ada+softmax.json", "ada.json")
    entries = {file: JournalEntry(file, "", checks={"softmax": {status: 3}}) for file in files}
    students = [Student("ada", work={"softmax": member, "": member})]
    group = GradedClass([source], students, Policy(), TRANSFORMER, 0, entries)
    warnings = class_guards.warn_of_wrong_folders(group, [source, Source("", ("softmax",), Path("class"))])
    assert ["none of the 1 submission in downloads" in text for text in warnings] == [True] * warned

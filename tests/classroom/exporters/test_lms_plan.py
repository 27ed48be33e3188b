"""What an export into a learning platform's file holds, and when it is refused."""

from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.classroom.exporters.lms_plan import MAX_NAMES, LmsPlan, Person, has_score, listed, rows_of_students
from autograder.classroom.storage.gradebook import Gradebook
from autograder.core.csv_table import parse_number
from autograder.errors import UsageError

GRADE = {"status": "graded", "excused": False, "by_hand": False, "adjustments": []}


@pytest.mark.parametrize(("changes", "exported"), [
    ({}, True), ({"status": "unreadable"}, True), ({"status": "missing"}, False), ({"status": "waiting"}, False),
    ({"status": "failed"}, False), ({"excused": True}, False), ({"excused": True, "by_hand": True}, False),
    ({"status": "missing", "adjustments": [{"add": 2.0}]}, True),
    ({"status": "failed", "adjustments": [{"add": 2.0}]}, False),
    ({"status": "failed", "adjustments": [{"score": 2.0}], "by_hand": True}, True),
])  # fmt: skip
def test_has_score_needs_a_submission_or_points_by_hand(changes, exported):
    assert has_score({**GRADE, **changes}) is exported and not has_score(None)


@pytest.mark.parametrize(("more", "end"), [(0, f"n{MAX_NAMES - 1}"), (1, "and 1 more"), (5, "and 5 more")])
def test_listed_names_the_first_and_counts_the_others(more, end):
    assert listed([f"n{number}" for number in range(MAX_NAMES + more)]).split(", ")[-1] == end
    assert listed(["a\x1b[2Jb"]) == "ab"


@pytest.mark.parametrize(("text", "number"), [
    (" 12.5 ", 12.5), ("12,5", 12.5), ("0", 0.0), ("", None), ("(read only)", None), ("nan", None), ("1e999", None),
])  # fmt: skip
def test_parse_number_reads_cells_of_spreadsheets(text, number):
    assert parse_number(text) == number


def described(expected, found, *, partial=False, others=0):
    """The lines about a class in which so many students have a score, one has none, and so many are in the file."""
    students = [{"submission": f"s{n}", "name": "", "id": "", "work": n < expected} for n in range(expected + 1)]
    rows = [f"s{number}" for number in range(found)] + [f"row{number}" for number in range(others)]
    file = SimpleNamespace(where="file", rows=rows, name=str, person=lambda row: Person(ids={"login": {row}}))
    plan, book = LmsPlan(partial=partial), Gradebook(Path("out"), {"students": students})
    filled = rows_of_students(plan, book, file, lambda one: file.person(one["submission"]), itemgetter("work"))
    assert [row for row, _ in filled] == rows[: min(found, expected)]
    return plan.lines


@pytest.mark.parametrize(
    ("expected", "found", "refused"),
    [
        (0, 0, ""), (4, 1, ""), (5, 3, ""), (6, 3, ""),
        (1, 0, "no id, address or name"), (5, 2, "only 2 of the 5"), (7, 3, "only 3 of the 7"),
    ],
)  # fmt: skip
def test_rows_of_students_refuse_the_file_of_another_class(expected, found, refused):
    if refused:
        with pytest.raises(UsageError, match=refused):
            described(expected, found)
    assert found == 0 < expected or f" of {found} matched" in described(expected, found, partial=bool(refused))[0]


def test_rows_of_students_name_who_is_not_exported():
    lines = described(3, 2, others=1)
    assert lines[1:] == ["Not exported, no such row (1): s2", "Not in this class, left out (1): row0"]

"""Read the gradebook that Canvas exports, and find the columns of assignments in it.

Sources: the code that writes the file, `lib/gradebook_exporter.rb`, and the code that reads it,
`lib/gradebook_importer.rb` (github.com/instructure/canvas-lms). The first columns are those of the student, "Student"
or "LastName" and "FirstName", then "ID" and some of `STUDENT_TITLES`; custom columns, assignments ("Title (number)",
`Assignment.title_with_id`) and totals follow. A row "Points Possible" has the maximum of each assignment, or words such
as "(read only)" in the language of the user; a row before it may say "Manual Posting". The last row is that of the test
student, whose login is a digest.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from autograder.classroom.exporters.person_matching import Person, identifiers, name_words
from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.submissions.roster import TEST_STUDENT_LOGIN
from autograder.core import csv_table
from autograder.core.csv_table import CsvTable
from autograder.core.text import clean
from autograder.errors import UsageError

STUDENT_TITLES = (
    "Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account",
    "Section",
)  # fmt: skip
HOW_TO_EXPORT = "In Canvas, open Grades, choose Export > Export Entire Gradebook, and give the file: --gradebook FILE"
TITLE_AND_ID = re.compile(r"(.*)\s\((\d+)\)", re.DOTALL)  # Assignment.title_and_id
# Words that a title may contain besides the assignment's name.
_GENERIC = {
    "assignment", "assignments", "exercise", "homework", "hw", "lab", "lesson", "module", "part", "problem",
    "programming", "project", "ps", "set", "sheet", "unit", "week", "the", "a", "no", "nr", "aufgabe", "blatt", "übung",
    "uebung", "woche", "devoir", "semaine", "tp", "tarea", "ejercicio", "semana", "práctica", "py",
    "exercice",  # codespell:ignore exercice
}  # fmt: skip


@dataclass(frozen=True)
class CanvasGradebook:
    """A gradebook: the columns of the student, and those of assignments by title."""

    where: str  # what to call it in messages
    titles: list[str]
    rows: list[list[str]]  # of students
    possible: list[str] | None  # the row "Points Possible"; None if it is not known
    is_current: bool  # whether its grades are those in Canvas now; those of a roster are old

    @property
    def student_columns(self) -> list[int]:
        """The columns of the student, at the beginning."""
        return [number for number, _ in enumerate(takewhile(STUDENT_TITLES.__contains__, self.titles))]

    @property
    def assignment_titles(self) -> list[str]:
        """The titles of assignments."""
        return [title for title in self.titles[len(self.student_columns) :] if TITLE_AND_ID.fullmatch(title)]

    def name(self, row: Sequence[str]) -> str:
        """Return the name of the student in a row."""
        cells = dict(zip(self.titles, row, strict=False))
        return cells.get("Student") or f"{cells.get('FirstName', '')} {cells.get('LastName', '')}".strip()

    def person(self, row: Sequence[str]) -> Person:
        """Return what identifies the student in a row."""
        ids = identifiers((self.titles[number], row[number]) for number in self.student_columns)
        number = row[self.titles.index("ID")].strip().casefold()
        return Person(name_words(self.name(row)), {**ids, "platform": {number}})


def read(path: Path) -> CanvasGradebook:
    """Return the gradebook in a file; raise UsageError if it is not one."""
    table = csv_table.read_given(path, HOW_TO_EXPORT, option="--gradebook FILE")
    if not _is_gradebook(table.titles):
        titles = clean(", ".join(table.titles[:4]), 120)
        found = f"its first columns are {titles}" if titles else "it is empty"
        raise UsageError(f"{path} is not a gradebook of Canvas: {found}. {HOW_TO_EXPORT}")
    return _gradebook(str(path), table, is_current=True)


def of_roster(book: Gradebook) -> CanvasGradebook | None:
    """Return the gradebook that was given as the roster of the class, or None if the roster is another file."""
    roster = book.roster
    return _gradebook("the roster", roster, is_current=False) if _is_gradebook(roster.titles) else None


def _is_gradebook(titles: Sequence[str]) -> bool:
    """Return whether the first titles are those that the importer requires (`row_has_student_headers?`)."""
    named = titles[:2] == ["Student", "ID"] or titles[:3] == ["LastName", "FirstName", "ID"]
    return named and "Section" in titles[: len(STUDENT_TITLES)]


def _gradebook(where: str, table: CsvTable, *, is_current: bool) -> CanvasGradebook:
    cells_of = {title: number for number, title in reversed(list(enumerate(table.titles)))}
    login = cells_of.get("SIS Login ID")
    possible, students = None, []
    for row in table.rows:
        if "Points Possible" in row[0]:
            possible = row
        elif row[cells_of["ID"]].strip() and not (login is not None and TEST_STUDENT_LOGIN.fullmatch(row[login])):
            students.append(row)  # other rows say which grades are hidden, or are of the test student
    return CanvasGradebook(where, table.titles, students, possible, is_current)


def find_columns(
    gradebook: CanvasGradebook, assignments: Mapping[str, str], chosen: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return the titles of the columns by assignment, and the assignments that have none.

    A column belongs to an assignment if its title is the assignment's name or title, with or without words such as
    "Assignment 2:".

    Args:
        chosen: titles that the user gave; one that is not in the gradebook becomes a new column.

    Raises UsageError if several columns could be meant.
    """
    found: dict[str, str] = {}
    for name, title in assignments.items():
        if name in chosen:
            found[name] = chosen[name]
            continue
        meant = [column for column in gradebook.assignment_titles if _means(column, name, title)]
        exact = [column for column in meant if _bare(column).casefold() in (name.casefold(), title.casefold())]
        if len(candidates := exact or meant) > 1:
            choices = " or ".join(f'--column {name}="{clean(column, 100)}"' for column in candidates[:3])
            raise UsageError(f"{gradebook.where} has several columns for {name}. Choose one: {choices}")
        if candidates:
            found[name] = candidates[0]
    used = list(found.values())
    if twice := next((column for column in used if used.count(column) > 1), None):
        names = " and ".join(name for name in found if found[name] == twice)
        raise UsageError(f"{names} would share the column {clean(twice, 100)!r}. Name the columns: --column NAME=TITLE")
    return found, [name for name in assignments if name not in found]


def _bare(column: str) -> str:
    match = TITLE_AND_ID.fullmatch(column)
    return match[1] if match else column


def _means(column: str, name: str, title: str) -> bool:
    words = _words(_bare(column))
    for phrase in (_words(name), _words(title)):
        for start in range(len(words) - len(phrase) + 1):
            rest = words[:start] + words[start + len(phrase) :]
            if words[start : start + len(phrase)] == phrase and all(w in _GENERIC or w.isdigit() for w in rest):
                return True
    return False


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())

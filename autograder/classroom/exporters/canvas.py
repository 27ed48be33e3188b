"""Fill the grades into the gradebook that Canvas exported: a CSV file that Canvas's gradebook imports.

Sources: the code that writes the file, `lib/gradebook_exporter.rb`, and the code that reads it,
`lib/gradebook_importer.rb` (github.com/instructure/canvas-lms; tests/support/lms_importers.py repeats its rules).

The first columns are those of the student, "Student" or "LastName" and "FirstName", then "ID" and some of
`STUDENT_TITLES`; custom columns, assignments ("Title (number)", `Assignment.title_with_id`) and totals follow. A row
"Points Possible" has the maximum of each assignment, or words such as "(read only)" in the language of the user; a row
before it may say "Manual Posting". The last row is that of the test student, whose login is a digest.

Canvas finds students by ID, then by SIS User ID, then by SIS Login ID, then by name. If none matches, it creates a new
student, so these cells are only copied from Canvas's own file. A column "Title (number)" belongs to that assignment;
any other title creates a new one. A different number in "Points Possible" changes the assignment's points. A blank cell
deletes the existing score (`no_change_to_value?`), so cells without a score to export are copied from Canvas's file.
"EX" excuses a student. Students without a row stay as they are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.exporters.lms_plan import (
    LmsPlan,
    Person,
    PlatformFile,
    has_score,
    identifiers,
    listed,
    name_words,
    person_of_student,
    rows_of_students,
)
from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.submissions.roster import TEST_STUDENT_LOGIN, TITLES
from autograder.core import csv_table
from autograder.core.csv_table import CsvTable, parse_number
from autograder.core.text import clean, counted
from autograder.documents.reading import Document
from autograder.errors import UsageError

STUDENT_TITLES = (
    "Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account",
    "Section",
)  # fmt: skip
HOW_TO_EXPORT = "In Canvas, open Grades, choose Export > Export Entire Gradebook, and give the file: --gradebook FILE"
TITLE_AND_ID = re.compile(r"(.*)\s\((\d+)\)", re.DOTALL)  # Assignment.title_and_id
EXCUSED = "EX"
_NOT_ASSIGNED = "N/A"
# What happens to cells.
_CHANGED, _KEPT = "Grades in Canvas that change", "Grades in Canvas that stay"
_EXCUSED = "Excused in Canvas, which stays"
_UNASSIGNED = "Not assigned to the student in Canvas, which ignores the score"
_BLANK = "blank"


@dataclass(frozen=True)
class CanvasGradebook(PlatformFile):
    """A gradebook: the columns of the student, and those of assignments by title."""

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

    def name(self, row: list[str]) -> str:
        """Return the name of the student in a row."""
        cells = dict(zip(self.titles, row, strict=False))
        return cells.get("Student") or f"{cells.get('FirstName', '')} {cells.get('LastName', '')}".strip()

    def person(self, row: list[str]) -> Person:
        """Return what identifies the student in a row."""
        ids = identifiers((self.titles[number], row[number]) for number in self.student_columns)
        number = row[self.titles.index("ID")].strip().casefold()
        return Person(name_words(self.name(row)), {**ids, "platform": {number}})


def read_gradebook(path: Path) -> CanvasGradebook:
    """Return the gradebook in a file; raise UsageError if it is not one."""
    table = csv_table.read_given(path, HOW_TO_EXPORT, option="--gradebook FILE")
    if not _is_gradebook(table.titles):
        titles = clean(", ".join(table.titles[:4]), 120)
        found = f"its first columns are {titles}" if titles else "it is empty"
        raise UsageError(f"{path} is not a gradebook of Canvas: {found}. {HOW_TO_EXPORT}")
    return _gradebook(str(path), table, is_current=True)


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
            if words[start : start + len(phrase)] == phrase and all(
                w in TITLES["generic"] or w.isdigit() for w in rest
            ):
                return True
    return False


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


@dataclass(frozen=True)
class _Column:
    name: str  # of the assignment
    title: str
    number: int | None  # in Canvas's file; None for a new column
    possible: str  # the cell of the row "Points Possible"; blank if Canvas's is not known
    scale: float


def plan(
    book: Gradebook,
    gradebook: CanvasGradebook | None,
    *,
    assignments: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    **choices: bool,
) -> LmsPlan:
    """Return the file to import and what it will change.

    Args:
        gradebook: Canvas's file; by default, the roster, if it is one.
        assignments: only these; all if empty.
        columns: titles of columns by assignment, where they cannot be recognized.
        choices: fields of `LmsPlan`, such as `keep_existing`.

    Raises UsageError if there is no gradebook of Canvas, or it does not fit.
    """
    if gradebook is None and _is_gradebook(book.roster.titles):
        gradebook = _gradebook("the roster", book.roster, is_current=False)
    if gradebook is None:
        raise UsageError(f"Canvas's own gradebook is needed, for its ids and columns. {HOW_TO_EXPORT}")
    result = LmsPlan(**choices)
    chosen = _columns(book, gradebook, assignments, columns or {}, result)
    names = [column.name for column in chosen]

    def has_work(student: Document) -> bool:
        grades = (student["assignments"].get(name) for name in names)
        return any(has_score(grade) or (grade and grade["excused"]) for grade in grades)

    found = rows_of_students(result, book, gradebook, _student, has_work)
    kept = [gradebook.titles[number] for number in gradebook.student_columns]
    result.rows = [[*kept, *(column.title for column in chosen)]]
    blanks = [""] * (len(kept) - 1)
    # Four blanks before the words, as Canvas's own exports have them.
    result.rows.append(["    Points Possible", *blanks, *(column.possible for column in chosen)])
    for row, student in found:
        cells = [_cell(gradebook, student, column, row, result) for column in chosen]
        result.rows.append([*(row[cell] for cell in gradebook.student_columns), *cells])
    if blank := result.noted.get(_BLANK):
        raise UsageError(
            f"{counted(len(blank), 'cell')} would be blank ({listed(blank)}), and Canvas deletes a grade where a blank "
            "cell is imported. Export one assignment at a time (--assignment NAME), or give Canvas's current "
            "gradebook: --gradebook FILE"
        )
    result.say_noted(_CHANGED, _KEPT, _EXCUSED, _UNASSIGNED)
    return result


def _columns(
    book: Gradebook, gradebook: CanvasGradebook, names: Sequence[str], given: Mapping[str, str], result: LmsPlan
) -> list[_Column]:
    known = {assignment["name"]: assignment for assignment in book.assignments}
    book.require_graded([*names, *given])
    wanted = {name: str(known[name]["title"]) for name in known if not names or name in names}
    found, without = find_columns(gradebook, wanted, given)
    if without:
        there = listed(gradebook.assignment_titles) or "none"
        hint = f'Name its column: --column {without[0]}="TITLE". Columns in {gradebook.where}: {there}'
        if not found or names:
            raise UsageError(f"{gradebook.where} has no column for {without[0]}. {hint}")
        result.say(f"Not exported, no column ({len(without)})", without)
        result.say(hint)
    return [_column(known[name], title, gradebook, result) for name, title in found.items()]


def _column(assignment: Document, title: str, gradebook: CanvasGradebook, result: LmsPlan) -> _Column:
    name, points = assignment["name"], csv_cells.points(assignment["possible"])
    if title not in gradebook.titles:
        if TITLE_AND_ID.fullmatch(title):  # only existing columns have one
            hint = f"Copy the title from it: --column {name}=TITLE"
            raise UsageError(f"{gradebook.where} has no column {title!r}. {hint}")
        result.say(f'{name}: a new column "{title}", {points} points')
        return _Column(name, title, None, points, 1.0)
    number = gradebook.titles.index(title)
    if gradebook.possible is None:
        result.say(f'{name}: column "{title}", {points} points here; the roster does not say how many in Canvas')
        return _Column(name, title, number, "", 1.0)
    cell = gradebook.possible[number]
    possible = parse_number(cell)
    if possible is None and cell.strip():
        raise UsageError(f'Canvas does not import the column "{title}": it is marked {cell.strip()}')
    scale = possible / assignment["possible"] if possible and assignment["possible"] else 1.0
    scaled = f", scaled to the {csv_cells.points(possible)} in Canvas" if abs(scale - 1) > 1e-9 else ""
    result.say(f'{name}: column "{title}", {points} points{scaled}')
    return _Column(name, title, number, cell, scale)


def _student(student: Document) -> Person:
    roster = student["roster"]
    if "ID" in roster and "Section" in roster and ("Student" in roster or "LastName" in roster):  # Canvas's gradebook
        student = {**student, "ids": {"canvas": roster["ID"], **student["ids"]}}
    return person_of_student(student, "canvas")


def _cell(gradebook: CanvasGradebook, student: Document, column: _Column, row: list[str], result: LmsPlan) -> str:
    grade, is_current, name = student["assignments"].get(column.name), gradebook.is_current, gradebook.name(row)
    there = row[column.number].strip() if column.number is not None else ""
    label = f"{name} ({column.name})"
    if there == _NOT_ASSIGNED:
        if has_score(grade):
            result.note(_UNASSIGNED, label)
        return there
    if grade is not None and grade["excused"]:
        new = EXCUSED
    elif grade is not None and has_score(grade):
        new = csv_cells.points(grade["score"] * column.scale)
    else:
        # A roster may be older than the grade in Canvas, so its cell cannot be written back.
        if there or not is_current:
            result.note(_KEPT if is_current else _BLANK, label)
        return there
    if not is_current or not there or _same(there, new):
        return new
    if there.upper() == EXCUSED or result.keep_existing:
        result.note(_EXCUSED if there.upper() == EXCUSED else _KEPT, label)
        return there
    result.note(_CHANGED, f"{name} ({column.name} {there} → {new})")
    return new


def _same(there: str, new: str) -> bool:
    mine, theirs = parse_number(new), parse_number(there)
    return there.upper() == new if mine is None or theirs is None else round(mine, 2) == round(theirs, 2)

"""Write a CSV file that Canvas's gradebook imports, made from the gradebook that Canvas exported.

Source: `lib/gradebook_importer.rb` (github.com/instructure/canvas-lms; tests/support/lms_importers.py repeats its
rules). Canvas finds students by ID, then by SIS User ID, then by SIS Login ID, then by name. If none matches, it
creates a new student, so these cells are only copied from Canvas's own file. A column "Title (number)" belongs to that
assignment; any other title creates a new one. A different number in "Points Possible" changes the assignment's points.
A blank cell deletes the existing score (`no_change_to_value?`), so cells without a score to export are copied from
Canvas's file. "EX" excuses a student. Students without a row stay as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.classroom.exporters import canvas_gradebook, csv_cells
from autograder.classroom.exporters.canvas_gradebook import CanvasGradebook
from autograder.classroom.exporters.lms_plan import LmsOptions, LmsPlan, has_score, listed, rows_of_students
from autograder.classroom.exporters.person_matching import Person, person_of_student
from autograder.classroom.storage.gradebook import Gradebook
from autograder.core.csv_table import parse_number
from autograder.core.text import counted
from autograder.documents.reading import Document
from autograder.errors import UsageError

EXCUSED = "EX"
_NOT_ASSIGNED = "N/A"
# What happens to cells.
_CHANGED, _KEPT = "Grades in Canvas that change", "Grades in Canvas that stay"
_EXCUSED = "Excused in Canvas, which stays"
_UNASSIGNED = "Not assigned to the student in Canvas, which ignores the score"
_BLANK = "blank"


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
    options: LmsOptions = LmsOptions(),  # noqa: B008 (it is frozen)
) -> LmsPlan:
    """Return the file to import and what it will change.

    Args:
        gradebook: Canvas's file; by default, the roster, if it is one.
        assignments: only these; all if empty.
        columns: titles of columns by assignment, where they cannot be recognized.

    Raises UsageError if there is no gradebook of Canvas, or it does not fit.
    """
    gradebook = gradebook or canvas_gradebook.of_roster(book)
    if gradebook is None:
        raise UsageError(f"Canvas's own gradebook is needed, for its ids and columns. {canvas_gradebook.HOW_TO_EXPORT}")
    result = LmsPlan(options)
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
    _require_no_blanks(result)
    result.say_noted(_CHANGED, _KEPT, _EXCUSED, _UNASSIGNED)
    return result


def _columns(
    book: Gradebook, gradebook: CanvasGradebook, names: Sequence[str], given: Mapping[str, str], result: LmsPlan
) -> list[_Column]:
    known = {assignment["name"]: assignment for assignment in book.assignments}
    book.require_graded([*names, *given])
    wanted = {name: str(known[name]["title"]) for name in known if not names or name in names}
    found, without = canvas_gradebook.find_columns(gradebook, wanted, given)
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
        if canvas_gradebook.TITLE_AND_ID.fullmatch(title):  # only existing columns have one
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


def _cell(gradebook: CanvasGradebook, student: Document, column: _Column, row: Sequence[str], result: LmsPlan) -> str:
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
    if there.upper() == EXCUSED or result.options.keep_existing:
        result.note(_EXCUSED if there.upper() == EXCUSED else _KEPT, label)
        return there
    result.note(_CHANGED, f"{name} ({column.name} {there} → {new})")
    return new


def _require_no_blanks(result: LmsPlan) -> None:
    """Raise UsageError if blank cells would delete grades."""
    if blank := result.noted.get(_BLANK):
        raise UsageError(
            f"{counted(len(blank), 'cell')} would be blank ({listed(blank)}), and Canvas deletes a grade where a blank "
            "cell is imported. Export one assignment at a time (--assignment NAME), or give Canvas's current "
            "gradebook: --gradebook FILE"
        )


def _same(there: str, new: str) -> bool:
    mine, theirs = parse_number(new), parse_number(there)
    return there.upper() == new if mine is None or theirs is None else round(mine, 2) == round(theirs, 2)

"""A CSV that Canvas's gradebook imports.

Sources: "How do I import grades in the Gradebook?" (community.instructure.com, Canvas instructor guide) and what reads
the file, `lib/gradebook_importer.rb` in github.com/instructure/canvas-lms. From there: the first columns are Student,
ID, SIS User ID, SIS Login ID, Section, in this order; every further column is an assignment, "Title (number)" an
existing one, any other title a new one; a line whose first cell contains "Points Possible" describes the assignments;
students are looked up by ID (Canvas's own number), then by SIS User ID, SIS Login ID, and last by name; an empty cell
is no score, and "EX" excuses.

With a gradebook exported from Canvas as roster (`headway grade --roster`), its columns come back as they were, and an
assignment column of the same title is written into the existing assignment.
"""

import re
from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.gradebook import Gradebook, display_name
from autograder.documents import Document

STUDENT_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
# The attempts of these have no points of their own: an empty cell leaves them to Canvas's policy for missing work.
_NO_SCORE = ("missing", "waiting", "failed")


def write(book: Gradebook, path: Path, *, id_column: str = "SIS User ID") -> int:
    """Write the file.

    Args:
        id_column: where ids go if the roster is none of Canvas's: "ID" (Canvas's own numbers), "SIS User ID" or
            "SIS Login ID".

    Returns:
        How many students it has.
    """
    titles = {one["name"]: _title(book, one["name"]) for one in book.assignments}
    rows = [
        [*STUDENT_COLUMNS, *titles.values()],
        # Four blanks, as Canvas's own exports have them.
        ["    Points Possible", "", "", "", "", *(csv_cells.points(one["possible"]) for one in book.assignments)],
    ]
    for student in book.students:
        grades = student["assignments"]
        rows.append([*_who(student, id_column), *(_cell(student, grades.get(name)) for name in titles)])
    csv_cells.write(path, rows)
    return len(rows) - 2


def _cell(student: Document, grade: Document | None) -> str:
    if grade is None or (student["status"] in _NO_SCORE and not grade["by_hand"] and not grade["excused"]):
        return ""
    return "EX" if grade["excused"] else csv_cells.points(grade["score"])


def _who(student: Document, id_column: str) -> list[str]:
    roster = student["roster"]
    if "Student" in roster and "ID" in roster:
        return [csv_cells.text(roster.get(column, "")) for column in STUDENT_COLUMNS]
    known = {"Student": display_name(student), id_column: student["id"], "Section": roster.get("Section", "")}
    return [csv_cells.text(known.get(column, "")) for column in STUDENT_COLUMNS]


def _title(book: Gradebook, name: str) -> str:
    """The column of an assignment: the existing one of that title in the roster, else a new one."""
    title = re.compile(rf"{re.escape(name)} \(\d+\)", re.IGNORECASE)
    columns = (column for student in book.students for column in student["roster"])
    return next((column for column in columns if title.fullmatch(column)), name)

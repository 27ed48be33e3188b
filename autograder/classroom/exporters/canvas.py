"""Write a CSV file that Canvas's gradebook imports.

Sources: "How do I import grades in the Gradebook?" (community.instructure.com, Canvas instructor guide) and the code
that reads the file, `lib/gradebook_importer.rb` in github.com/instructure/canvas-lms. The first columns are Student,
ID, SIS User ID, SIS Login ID, Section, in this order. Every further column is an assignment: "Title (number)" is an
existing one, any other title a new one. A row whose first cell contains "Points Possible" describes the assignments.
Students are looked up by ID (Canvas's own number), then by SIS User ID, SIS Login ID, and last by name. An empty cell
is no score, and "EX" excuses.

If the roster (`headway grade --roster`) is a gradebook exported from Canvas, its columns are written back unchanged,
and an assignment column of the same title goes into the existing assignment.
"""

import re
from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.gradebook import Gradebook, display_name
from autograder.documents import Document

STUDENT_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
# An empty cell leaves students of these statuses to Canvas's policy for missing work.
_NO_SCORE = ("missing", "waiting", "failed")


def write(book: Gradebook, path: Path, *, id_column: str = "SIS User ID") -> int:
    """Write the CSV file.

    Args:
        id_column: the column for ids if the roster is not from Canvas: "ID" (Canvas's own numbers), "SIS User ID"
            or "SIS Login ID".

    Returns:
        The number of students.
    """
    titles = {assignment["name"]: _column_title(book, assignment["name"]) for assignment in book.assignments}
    rows = [
        [*STUDENT_COLUMNS, *titles.values()],
        # Four blanks, as Canvas's own exports have them.
        [
            "    Points Possible",
            "",
            "",
            "",
            "",
            *(csv_cells.points(assignment["possible"]) for assignment in book.assignments),
        ],
    ]
    for student in book.students:
        grades = student["assignments"]
        rows.append([*_student_cells(student, id_column), *(_cell(student, grades.get(name)) for name in titles)])
    csv_cells.write(path, rows)
    return len(rows) - 2


def _cell(student: Document, grade: Document | None) -> str:
    if grade is None or (student["status"] in _NO_SCORE and not grade["by_hand"] and not grade["excused"]):
        return ""
    return "EX" if grade["excused"] else csv_cells.points(grade["score"])


def _student_cells(student: Document, id_column: str) -> list[str]:
    roster = student["roster"]
    if "Student" in roster and "ID" in roster:
        return [csv_cells.text(roster.get(column, "")) for column in STUDENT_COLUMNS]
    cells = {"Student": display_name(student), id_column: student["id"], "Section": roster.get("Section", "")}
    return [csv_cells.text(cells.get(column, "")) for column in STUDENT_COLUMNS]


def _column_title(book: Gradebook, name: str) -> str:
    """Return the title of an assignment's column: the roster's, which has a number, or the assignment's name."""
    pattern = re.compile(rf"{re.escape(name)} \(\d+\)", re.IGNORECASE)
    columns = (column for student in book.students for column in student["roster"])
    return next((column for column in columns if pattern.fullmatch(column)), name)

"""Write a CSV file that Canvas's gradebook imports.

Sources: "How do I import grades in the Gradebook?" (community.instructure.com, Canvas instructor guide) and the code
that reads the file, `lib/gradebook_importer.rb` in github.com/instructure/canvas-lms. Every column after those of the
student is an assignment: "Title (number)" is an existing one, any other title a new one. Canvas looks students up by ID
(its own number), then by SIS User ID, SIS Login ID, and last by name. An empty cell is no score, and "EX" excuses.

If the roster (`headway grade --roster`) is a gradebook exported from Canvas, its columns are written back unchanged.
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
    """Write the CSV file, with ids in `id_column` if the roster is not from Canvas; return the number of students."""
    titles = {assignment["name"]: _column_title(book, assignment["name"]) for assignment in book.assignments}
    possible = [csv_cells.points(assignment["possible"]) for assignment in book.assignments]
    # Four blanks, as Canvas's own exports have them.
    rows = [[*STUDENT_COLUMNS, *titles.values()], ["    Points Possible", "", "", "", "", *possible]]
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
    cells = student["roster"]
    if not ("Student" in cells and "ID" in cells):  # not a roster from Canvas
        cells = {"Student": display_name(student), id_column: student["id"], "Section": cells.get("Section", "")}
    return [csv_cells.text(cells.get(column, "")) for column in STUDENT_COLUMNS]


def _column_title(book: Gradebook, name: str) -> str:
    """Return the title of an assignment's column: the roster's, which has a number, or the assignment's name."""
    pattern = re.compile(rf"{re.escape(name)} \(\d+\)", re.IGNORECASE)
    columns = (column for student in book.students for column in student["roster"])
    return next((column for column in columns if pattern.fullmatch(column)), name)

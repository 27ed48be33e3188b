"""Write the class as one CSV table with a row per student, for a spreadsheet or a script."""

from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.gradebook import Gradebook
from autograder.report.student_feedback import student_exception_lines

_TEXTS = ("name", "id", "email", "submission", "status", "reason")


def write(book: Gradebook, path: Path) -> int:
    """Write the table: student, status, points, and the score of each assignment after the policy.

    Returns:
        The number of students.
    """
    names = [assignment["name"] for assignment in book.assignments]
    numbers = ("attempt", "attempts", "late_days", "earned", "possible", "penalty", "score", "out_of")
    rows = [[*_TEXTS, "submitted_at", *numbers, "dropped", "exceptions", *names]]
    for student in book.students:
        grades = [student["assignments"].get(name, {}) for name in names]
        scores = ["" if grade.get("excused") else csv_cells.points(grade.get("score")) for grade in grades]
        rows.append(
            [
                *(csv_cells.text(student[key]) for key in _TEXTS),
                csv_cells.text(student["submitted_at"]),
                *(csv_cells.points(student[key]) for key in numbers),
                csv_cells.text(" ".join(student["dropped"])),
                csv_cells.text("; ".join(student_exception_lines(student))),
                *scores,
            ]
        )
    csv_cells.write(path, rows)
    return len(rows) - 1

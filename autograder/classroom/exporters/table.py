"""Write the class as one CSV table with a row per student, for a spreadsheet or a script."""

from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.gradebook import Gradebook
from autograder.report.student_feedback import student_exception_lines


def write(book: Gradebook, path: Path) -> int:
    """Write the table (student, status, points, score of each assignment); return the number of students."""
    names = [assignment["name"] for assignment in book.assignments]
    texts = ("name", "id", "email", "submission", "status", "reason")
    numbers = ("late_days", "earned", "possible", "penalty", "score", "out_of")
    rows = [[*texts, *numbers, "dropped", "exceptions", *names]]
    for student in book.students:
        grades = [student["assignments"].get(name, {}) for name in names]
        scores = ["" if grade.get("excused") else csv_cells.points(grade.get("score")) for grade in grades]
        lists = (" ".join(student["dropped"]), "; ".join(student_exception_lines(student)))
        cells = [*(csv_cells.text(student[key]) for key in texts), *(csv_cells.points(student[key]) for key in numbers)]
        rows.append([*cells, *map(csv_cells.text, lists), *scores])
    csv_cells.write(path, rows)
    return len(rows) - 1

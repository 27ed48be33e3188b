"""Write the class as one CSV table with a row per student: `OUT/grades.csv`, and what `headway export` writes.

Both are this table, so that they never disagree. docs/instructors.md describes its columns.
"""

from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.storage.gradebook import has_no_result
from autograder.core.points import format_points
from autograder.documents.reading import Document

STUDENT = ("name", "id", "email", "submission", "section", "ta", "status", "reason")
TOTAL = ("percent", "score", "out_of", "raw", "possible", "late_days", "late_penalty", "dropped", "overrides")
ASSIGNMENT = ("", "_raw", "_possible", "_percent", "_late_days", "_late_penalty", "_counts", "_override")


def write(document: Document, path: Path, *, durable: bool = False) -> int:
    """Write the table of a class document; return the number of students."""
    names = [assignment["name"] for assignment in document["assignments"]]
    of_assignments = [f"{name}{column}" for name in names for column in ASSIGNMENT]
    rows = [[*STUDENT, *TOTAL, *of_assignments, "notes"]]
    for student in document["students"]:
        grades = [student["assignments"].get(name) for name in names]
        cells = [csv_cells.text(student.get(key, "")) for key in STUDENT]
        cells += _total_cells(student)
        cells += [cell for grade in grades for cell in (_grade_cells(grade) if grade else [""] * len(ASSIGNMENT))]
        rows.append([*cells, csv_cells.text("; ".join(student["notes"]))])
    csv_cells.write(path, rows, durable=durable, marked=True)
    return len(rows) - 1


def _total_cells(student: Document) -> list[str]:
    grades = student["assignments"]
    overrides = ((name, _override(grade)) for name, grade in grades.items())
    total = (None, None) if any(map(has_no_result, grades.values())) else (student["percent"], student["score"])
    numbers = (*total, *(student[key] for key in ("out_of", "earned", "possible", "late_days", "penalty")))
    texts = (" ".join(student["dropped"]), "; ".join(f"{name}: {text}" for name, text in overrides if text))
    return [*map(csv_cells.points, numbers), *map(csv_cells.text, texts)]


def _grade_cells(grade: Document) -> list[str]:
    percent = 100.0 * grade["score"] / grade["possible"] if grade["possible"] else None
    score, percent = (None, None) if grade["excused"] or has_no_result(grade) else (grade["score"], percent)
    earned = None if has_no_result(grade) else grade["earned"]
    numbers = (score, earned, grade["possible"], percent, grade["late_days"], grade["penalty"])
    return [*map(csv_cells.points, numbers), grade["counts"], csv_cells.text(_override(grade))]


def _override(grade: Document) -> str:
    """Return what an instructor has changed for the student, in words: exceptions of course.toml, then comments."""
    texts = [grade["exception"]] if grade["exception"] else []
    for one in grade["adjustments"]:
        if one["time"]:  # those without a time are among the exceptions
            amount = abs(one["add"]) if one["score"] is None else one["score"]
            change = "given by hand" if one["score"] is not None else "added" if one["add"] > 0 else "deducted"
            reason = f" ({one['text']})" if one["text"] else ""
            texts.append(f"{format_points(amount)} {'point' if amount == 1 else 'points'} {change}{reason}")
    return "; ".join(texts)

"""Write Moodle's grading worksheet, for an assignment with the feedback type "Offline grading worksheet".

Sources: "Assignment settings" and "Using Assignment" (docs.moodle.org, Feedback types, Offline grading worksheet) and
the code that reads the file, `mod/assign/feedback/offline/importgradeslib.php` and `locallib.php` in
github.com/moodle/moodle. Identifier, Grade and Last modified (grade) are required. The identifier is "Participant "
and a number that this Moodle assignment gives the student. Moodle skips a grade above the assignment's maximum, and one
whose "Last modified (grade)" is older than the grade in Moodle; an empty grade changes nothing.

A Moodle assignment has one grade: that of one assignment of the course (`--assignment`), or the total. If the roster
(`headway grade --roster`) is Moodle's own worksheet, its columns are written back unchanged, and the grade is scaled to
its "Maximum Grade".
"""

import html
from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.gradebook import Gradebook, display_name, iter_functions
from autograder.documents import Document
from autograder.report.student_feedback import student_exception_lines
from autograder.report.wording import STATUS_WORDS

COLUMNS = (
    "Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade",
    "Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments",
)  # fmt: skip
_NO_GRADE = ("missing", "waiting", "failed")
MAX_REMARKS = 8


def write(book: Gradebook, path: Path, *, assignment: str | None = None) -> int:
    """Write the worksheet; return the number of students. The grade is the score of `assignment`, or the total."""
    rows = [list(COLUMNS)]
    for student, result in book.results():
        roster = student["roster"]
        score, possible = _score(student, assignment)
        maximum = _number(roster.get("Maximum Grade") or roster.get("Maximum grade")) or possible
        by_hand = any(entry["by_hand"] for name, entry in student["assignments"].items() if assignment in (None, name))
        ungraded = student["status"] in _NO_GRADE and not by_hand
        excused = assignment is not None and student["assignments"].get(assignment, {}).get("excused", False)
        grade = None if ungraded or excused or not possible else score * maximum / possible
        defaults = {
            "Identifier": f"Participant {student['id']}" if student["id"].isdecimal() else student["id"],
            "Full name": display_name(student),
            "Email address": student["email"],
            "Status": "No submission" if student["status"] == "missing" else "Submitted for grading",
            "Grade can be changed": "Yes",
            "Last modified (submission)": _submitted_at(student, assignment) or "-",
            "Last modified (grade)": "-",
        }
        row = {column: csv_cells.text(roster.get(column) or defaults.get(column, "")) for column in COLUMNS}
        row["Grade"] = "" if grade is None else f"{min(grade, maximum):.2f}"
        row["Maximum Grade"] = f"{maximum:.2f}"
        row["Feedback comments"] = csv_cells.text(_feedback(student, result, assignment))
        rows.append([row[column] for column in COLUMNS])
    csv_cells.write(path, rows, line_end="\r\n")
    return len(rows) - 1


def _submitted_at(student: Document, assignment: str | None) -> str | None:
    """Return when an assignment was submitted; without one, the latest time."""
    grades = student["assignments"]
    times = [grade["submitted_at"] for name, grade in grades.items() if assignment in (None, name)]
    return max(filter(None, times), default=None)


def _score(student: Document, assignment: str | None) -> tuple[float, float]:
    if assignment is None:
        return student["score"], student["out_of"]
    grade = student["assignments"].get(assignment, {"score": 0.0, "possible": 0.0})
    return grade["score"], grade["possible"]


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", "."))
    except ValueError:
        return None


def _feedback(student: Document, result: Document | None, assignment: str | None) -> str:
    """Return the functions that did not pass and why, in one paragraph, as HTML."""
    prefix = f"{assignment}: " if assignment else ""
    exceptions = [line for line in student_exception_lines(student) if line.startswith(prefix)]
    if result is None:
        return html.escape(". ".join([*exceptions, student["reason"]]))
    remarks = []
    for name, function in iter_functions(result):
        if function["status"] == "passed" or (assignment and not name.startswith(f"{assignment}.")):
            continue
        why = "" if function["status"] == "failed" else STATUS_WORDS[function["status"]]
        named = next((check["mistake"]["title"] for check in function["checks"] if check["mistake"]), why)
        points = f"{csv_cells.points(function['points']['earned'])}/{csv_cells.points(function['points']['possible'])}"
        remarks.append(f"{name} {points}{': ' + named if named else ''}")
    more = [f"and {len(remarks) - MAX_REMARKS} more"] if len(remarks) > MAX_REMARKS else []
    text = "; ".join(remarks[:MAX_REMARKS] + more) or "All checks passed."
    return html.escape(". ".join([*exceptions, *([student["reason"]] if student["reason"] else []), text]))

"""Read comments and points for many students from a CSV file, for example of a rubric item."""

import math
from pathlib import Path
from typing import Any

from autograder.classroom.comments.comment_records import CommentRecord, requested
from autograder.classroom.submissions.student_names import StudentNames
from autograder.core import csv_table
from autograder.core.text import clean
from autograder.errors import UsageError

_TEXTS = ("text", "assignment", "rubric", "reason")
_NUMBERS = ("points", "add", "score")


def read(path: Path, names: StudentNames) -> list[CommentRecord]:
    """Return a request for each row with a text or points; raise UsageError, naming the line, for a wrong one."""
    table = csv_table.read_given(path, "Save it as CSV (UTF-8)", option="--from FILE")
    titles = [title.lower() for title in table.titles]
    if not titles:
        raise UsageError(f"{path} is empty. It needs a row of titles, such as student,assignment,rubric,points,text")
    if "student" not in titles:
        known = ", ".join(("student", *_TEXTS, *_NUMBERS))
        raise UsageError(f"{path} has no column student. Its columns may be: {known}")
    requests = []
    for number, row in zip(table.line_numbers, table.rows, strict=True):
        cells = {title: cell.strip() for title, cell in zip(titles, row, strict=True)}
        where = f"{path}, line {number}"
        if any(cells.get(name) for name in ("text", *_NUMBERS)):
            student = names.find(cells.get("student", ""), f"{where}, column student")
            if student is None:
                raise UsageError(f"{where}: {names.unknown(cells.get('student', ''))}")
            values: dict[str, Any] = {name: cells.get(name, "") for name in _TEXTS}
            values |= {name: _number(cells.get(name, ""), where, name) for name in _NUMBERS}
            requests.append(requested(student, **values))
    if not requests:
        raise UsageError(f"{path} has no row with a text or points")
    return requests


def _number(text: str, where: str, column: str) -> float | None:
    if not text:
        return None
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{where}: {column} must be a number, not {clean(text, 40)!r}")
    return number

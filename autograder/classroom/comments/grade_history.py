"""Record each change of a student's score, with its time and cause, in `OUT/history.jsonl`.

Each line is a JSON object: time, by, cause, student, assignment, before, after and, if a comment is the cause, its id.
Scores are in points; an empty assignment stands for the total, in percent. `null` is no score.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from autograder.classroom.comments import comment_records
from autograder.classroom.storage.result_store import ANOTHER_OUT, read_lines
from autograder.core.files import report_write_error
from autograder.core.points import format_points
from autograder.core.text import clean, listed, now
from autograder.documents.reading import Document
from autograder.report.wording import CAUSES

HISTORY = "history.jsonl"
MAX_SHOWN = 60
_TINY = 1e-5  # documents hold six decimals

Cause = Literal["run", "submission", "lateness", "policy", "comment"]
CauseOf = Callable[[Document, str], Cause]  # of a change, given the student and the assignment; "" is the total


class GradeChange(Struct, frozen=True):
    """One change of one score."""

    time: str
    by: str
    cause: Cause
    student: str  # the name of the submission
    assignment: str  # empty: the total
    before: float | None
    after: float | None
    comment: str = ""  # the id of the comment that caused it


def read(out: Path) -> list[Document]:
    """Return the changes, the oldest first."""
    return [msgspec.to_builtins(change) for change in read_lines(out / HISTORY, GradeChange)]


def record(out: Path, document: Document, cause_of: CauseOf, *, by: str = "", comment: str = "") -> list[GradeChange]:
    """Add the changes since the last record to the history, and return them.

    Args:
        cause_of: returns why a score has changed; that of a total only if no assignment says it.
        by: who changed it (default: the user).
        comment: the id of the comment that is the cause.
    """
    last = {(change.student, change.assignment): change.after for change in read_lines(out / HISTORY, GradeChange)}
    time, by, changes = now(), by or comment_records.current_user(), []
    for student in document["students"]:
        causes: list[Cause] = []
        for assignment, after in _scores(student):
            names = student["submission"], assignment
            if _differ(before := last.get(names), after):
                cause = causes[0] if causes and not assignment else cause_of(student, assignment)
                causes.append(cause)
                changes.append(GradeChange(time, by, cause, *names, before, after, comment))
    if changes:
        with report_write_error(out / HISTORY, ANOTHER_OUT), open(out / HISTORY, "a+b") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            start = b"\n" if file.read(1) not in (b"", b"\n") else b""  # after half a line
            file.write(start + b"".join(msgspec.json.encode(change) + b"\n" for change in changes))
            file.flush()
            os.fsync(file.fileno())
    return changes


def changed_grades(changes: Iterable[GradeChange], names: Mapping[str, str]) -> list[str]:
    """Return a line for each cause, with the students whose grades changed; `names` has theirs by submission."""
    by_cause: dict[str, list[str]] = {}
    for one in changes:
        if one.assignment and one.before is not None:
            after = "–" if one.after is None else format_points(one.after)
            text = f"{clean(names[one.student], 80)} ({one.assignment} {format_points(one.before)} → {after})"
            by_cause.setdefault(CAUSES[one.cause], []).append(text)
    return [f"Grades that changed ({cause}): {listed(texts, MAX_SHOWN, '; ')}" for cause, texts in by_cause.items()]


def _scores(student: Document) -> Iterator[tuple[str, float | None]]:
    """Yield the score of each assignment, and last the total; None while there is none."""
    grades = student["assignments"]
    for name, grade in grades.items():
        # Missing work has a score only if it was given by hand.
        has_score = grade["score"] or grade["status"] not in ("missing", "waiting")
        yield name, grade["score"] if has_score and not grade["excused"] else None
    is_waiting = any(grade["status"] == "waiting" for grade in grades.values())
    has_total = student["score"] or any(grade["status"] != "missing" for grade in grades.values())
    yield "", student["percent"] if has_total and not is_waiting else None


def _differ(before: float | None, after: float | None) -> bool:
    return before is not after if before is None or after is None else abs(before - after) > _TINY

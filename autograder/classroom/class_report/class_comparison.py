"""Compare a class with an earlier run of the same class, or of another year, student by student where possible."""

import datetime
from statistics import median

from autograder.classroom.comments import grade_history
from autograder.classroom.storage.gradebook import Gradebook, display_name
from autograder.core.text import stored_time, time_zone
from autograder.errors import UsageError
from autograder.report.class_records import (
    AssignmentChange,
    AssignmentSummary,
    ClassComparison,
    ClassRecords,
    StudentChange,
    StudentRecord,
)

MIN_CHANGE = 0.0005  # of a score; smaller ones are rounding


def compare(now: ClassRecords, then: ClassRecords, name: str) -> ClassComparison:
    """Return what differs between two sets of records; `name` says what the earlier one is."""
    earlier = _matched(now.students, then.students)
    changes = []
    for number, student in enumerate(now.students):
        before = earlier.get(number)
        if before is not None and before.out_of and student.out_of and abs(student.share - before.share) > MIN_CHANGE:
            changes.append(StudentChange(number, before.share, student.share))
    changes.sort(key=lambda change: (change.before - change.after, now.students[change.student].name))
    assignments = [AssignmentChange("total", _median(then.scored), _median(now.scored))]
    medians = {summary.name: summary.median for summary in then.assignments}
    assignments += [AssignmentChange(one.name, medians.get(one.name), one.median) for one in now.assignments]
    pass_rates = {function: then.pass_rate(function) for function in now.functions if function in then.functions}
    return ClassComparison(name, assignments, changes, len(earlier), pass_rates)


def since(records: ClassRecords, book: Gradebook, date: str) -> ClassComparison:
    """Return what has changed since midnight of a day in the course's time zone, by the history of grades.

    Raises UsageError if it is not a date, or no grade is as old.
    """
    try:
        day = datetime.date.fromisoformat(date)
    except ValueError:
        raise UsageError(f"{date!r} is not a date. Write it as in --since 2026-03-05") from None
    start = datetime.datetime.combine(day, datetime.time(), time_zone(book.policy.time_zone) or datetime.UTC)
    scores: dict[str, dict[str, float | None]] = {}  # by submission, then assignment
    for change in grade_history.read(book.out):
        if (time := stored_time(change["time"])) is not None and time < start:
            scores.setdefault(change["student"], {})[change["assignment"]] = change["after"]
    if not scores:
        raise UsageError(f"the history has no grade from before {day}. Its dates: headway show {book.out} STUDENT")
    then = ClassRecords(records.title)
    shares: dict[str, list[float]] = {}
    for student in book.students:
        earlier = scores.get(student["submission"], {})
        if (percent := earlier.get("")) is not None:
            names = display_name(student), student["id"], student["submission"]
            then.students.append(StudentRecord(*names, "graded", "", percent, 100.0, 0, True))
        for name, grade in student["assignments"].items():
            if (points := earlier.get(name)) is not None and grade["possible"]:
                shares.setdefault(name, []).append(points / grade["possible"])
    then.assignments = [AssignmentSummary(name, found) for name, found in shares.items()]
    return compare(records, then, str(day))


def _median(students: list[StudentRecord]) -> float | None:
    return median(student.share for student in students) if students else None


def _matched(now: list[StudentRecord], then: list[StudentRecord]) -> dict[int, StudentRecord]:
    """Return the earlier record of each student: of the same submission, id or address, if only one has it.

    A record that one of these has matched belongs to nobody else.
    """
    found: dict[int, StudentRecord] = {}
    for key in ("submission", "id", "email"):
        by_text: dict[str, list[StudentRecord]] = {}
        matched = {id(record) for record in found.values()}
        for record in then:
            if id(record) not in matched and (text := getattr(record, key)):
                by_text.setdefault(text.casefold(), []).append(record)
        for number, student in enumerate(now):
            same = by_text.get(getattr(student, key).casefold(), [])
            if number not in found and len(same) == 1:
                found[number] = same[0]
    return found

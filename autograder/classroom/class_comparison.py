"""Compare a class with an earlier run of the same class, or of another year, student by student where possible."""

from statistics import median

from autograder.report.class_records import (
    AssignmentChange,
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
    known = {summary.name: summary for summary in then.assignments}
    for summary in now.assignments:
        before_summary = known.get(summary.name)
        assignments.append(
            AssignmentChange(summary.name, before_summary.median if before_summary else None, summary.median)
        )
    pass_rates = {function: then.pass_rate(function) for function in now.functions if function in then.functions}
    return ClassComparison(name, assignments, changes, len(earlier), pass_rates)


def _median(students: list[StudentRecord]) -> float | None:
    return median(student.share for student in students) if students else None


def _matched(now: list[StudentRecord], then: list[StudentRecord]) -> dict[int, StudentRecord]:
    """Return the earlier record of each student: of the same submission, id or address, if only one has it."""
    found: dict[int, StudentRecord] = {}
    for key in ("submission", "id", "email"):
        by_text: dict[str, list[StudentRecord]] = {}
        for record in then:
            if text := getattr(record, key):
                by_text.setdefault(text.casefold(), []).append(record)
        for number, student in enumerate(now):
            same = by_text.get(getattr(student, key).casefold(), [])
            if number not in found and len(same) == 1:
                found[number] = same[0]
    return found

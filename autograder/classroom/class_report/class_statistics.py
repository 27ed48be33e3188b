"""Add up the results of a class from its result documents, each of which is read once, and compare two classes."""

import datetime
from collections.abc import Iterable, Sequence

import numpy as np

from autograder.classroom.comments import grade_history
from autograder.classroom.storage.gradebook import Gradebook, display_name, iter_functions
from autograder.core.text import clean, stored_time, time_zone
from autograder.course import registry
from autograder.documents.reading import Document
from autograder.engine.diagnosis.mistake import mistakes_of_function
from autograder.errors import UsageError
from autograder.report.class_records import (
    AssignmentChange,
    AssignmentSummary,
    CheckRecord,
    ClassComparison,
    ClassRecords,
    FunctionStatistics,
    MistakeRecord,
    StudentChange,
    StudentRecord,
)
from autograder.report.student_feedback import student_exception_lines

MAX_SLOWEST = 15
MAX_TIMEOUTS = 200
MIN_CHANGE = 0.0005  # of a score; smaller ones are rounding
MIN_STUDENTS = 10  # with fewer, a correlation means little

Outcome = tuple[bool, float, float]  # whether a function passes, points earned, points possible


def collect(book: Gradebook) -> ClassRecords:
    """Return the records of a class: students, functions, checks and mistakes."""
    records = ClassRecords(clean(book.title, 200), seed=book.document["seed"])
    mistakes: dict[str, MistakeRecord] = {}
    functions: dict[str, None] = {}  # an ordered set
    outcomes: list[dict[str, Outcome]] = []
    for number, (student, result) in enumerate(book.results()):
        record = _student_record(student, book.names[student["submission"]])
        if result is None and record.status == "graded":
            record.status, record.reason = "failed", "the result document cannot be read: grade it again"
            record.states = dict.fromkeys(student["assignments"], "failed")
        records.students.append(record)
        records.reused_comments.update(clean(one["reuses"], 60) for one in student["comments"] if one["reuses"])
        outcomes.append({})
        for name, function in iter_functions(result) if result else ():
            functions[name], points = None, function["points"]
            outcomes[-1][name] = function["status"] == "passed", points["earned"], points["possible"]
            record.statuses[name] = function["status"]
            _add_checks(records, mistakes, number, name, function["checks"])
    known = {assignment["name"]: index for index, assignment in enumerate(book.assignments)}
    # Within an assignment, functions keep the order of the documents.
    records.functions = sorted(functions, key=lambda name: known.get(name.partition(".")[0], len(known)))
    position = {name: index for index, name in enumerate(records.functions)}
    records.statistics = function_statistics(records.functions, outcomes)
    for name in (assignment["name"] for assignment in book.assignments):
        shares = [student.shares[name] for student in records.students if name in student.shares]
        records.assignments.append(AssignmentSummary(name, shares))
    records.mistakes = sorted(mistakes.values(), key=lambda item: (-len(item.students), position[item.function]))
    for index, mistake in enumerate(records.mistakes):
        for number in mistake.students:
            records.students[number].mistakes.append(index)
    records.checks = dict(sorted(records.checks.items(), key=lambda item: position[item[1].function]))
    return records


def _student_record(student: Document, name: str) -> StudentRecord:
    return StudentRecord(
        clean(name, 120),
        clean(student["id"], 60),
        clean(student["submission"], 120),
        student["status"],
        clean(student["reason"], 400),
        student["score"],
        student["out_of"],
        student["late_days"],
        any(grade["file"] for grade in student["assignments"].values()),
        clean(student["email"], 120),
        clean(student["section"], 60),
        clean(student["ta"], 60),
        {
            name: grade["score"] / grade["possible"]
            for name, grade in student["assignments"].items()
            if grade["status"] == "graded" and grade["possible"] and not grade["excused"]
        },
        [clean(note, 400) for note in (*student_exception_lines(student), *student["notes"])],
        states={
            name: "excused" if grade["excused"] else grade["status"]
            for name, grade in student["assignments"].items()
            if grade["excused"] or grade["status"] != "graded"
        },
    )


def _add_checks(
    records: ClassRecords, mistakes: dict[str, MistakeRecord], student: int, function: str, checks: Iterable[Document]
) -> None:
    for check in checks:
        record = records.checks.setdefault(check["id"], CheckRecord(check["id"], function, check["title"]))
        record.statuses[check["status"]] += 1
        if check["status"] == "timeout":
            records.timed_out += 1
            if len(records.timeouts) < MAX_TIMEOUTS:
                records.timeouts.append((student, function, check["title"]))
        elif check["status"] != "not_started":
            # The list stays sorted, and is only touched for a check that is among the slowest.
            entry = (check["seconds"], student, function, check["title"])
            if len(records.slowest) < MAX_SLOWEST or entry > records.slowest[-1]:
                records.slowest = sorted([*records.slowest, entry], reverse=True)[:MAX_SLOWEST]
        for mistake_id, title, hint in _mistakes_in(check["mistake"]) if check["mistake"] else ():
            mistake = mistakes.setdefault(mistake_id, MistakeRecord(mistake_id, title, function, hint, []))
            if not mistake.students or mistake.students[-1] != student:  # several checks may show the same mistake
                mistake.students.append(student)


def _mistakes_in(diagnosis: Document) -> list[tuple[str, str, str]]:
    """Return id, title and hint of each diagnosed mistake; a combination "a+b" counts as two mistakes."""
    package = registry.default().package
    known = {mistake.id: mistake for mistake in mistakes_of_function(diagnosis["id"].partition("/")[0], package)}
    parts = diagnosis["id"].split("+")
    if all(part in known for part in parts):
        texts = ((part, known[part].title, known[part].hint) for part in parts)
        return [(part, *(text.replace("{constant}", "some number") for text in both)) for part, *both in texts]
    return [(diagnosis["id"], diagnosis["title"], diagnosis["hint"])]


def function_statistics(
    functions: Sequence[str], outcomes: Sequence[dict[str, Outcome]]
) -> dict[str, FunctionStatistics]:
    """Measure how hard each function was, and whether it separates strong students from weak ones (item analysis).

    The difficulty index is the share of students who pass. Discrimination is the point-biserial correlation between
    passing a function and the share of points in all other functions (the corrected item-total correlation; Henrysson
    1963, doi:10.1007/BF02289618). Without the correction, a function would correlate with itself. Of a student,
    functions that were not graded are missing in the outcomes.
    """
    shape = len(outcomes), len(functions)
    has, passes, earned, possible = np.zeros(shape, bool), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    position = {name: column for column, name in enumerate(functions)}
    for row, by_function in enumerate(outcomes):
        for name, outcome in by_function.items():
            place = row, position[name]
            has[place], (passes[place], earned[place], possible[place]) = True, outcome
    all_earned, all_possible = earned.sum(axis=1), possible.sum(axis=1)
    found = {}
    for name, column in position.items():
        others = all_possible - possible[:, column]
        counted = has[:, column] & (others > 0)
        rest = (all_earned - earned[:, column])[counted] / others[counted]
        discrimination = _correlation(passes[counted, column], rest)
        mean_share = earned[:, column].sum() / possible[:, column].sum() if possible[:, column].sum() else 0.0
        found[name] = FunctionStatistics(float(mean_share), discrimination)
    return found


def _correlation(
    first: "np.ndarray[tuple[int], np.dtype[np.float64]]", second: "np.ndarray[tuple[int], np.dtype[np.float64]]"
) -> float | None:
    """Return Pearson's correlation, or None for too few students or where all have the same value."""
    if first.size < MIN_STUDENTS or np.ptp(first) == 0 or np.ptp(second) < 1e-9:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def compare(now: ClassRecords, then: ClassRecords, name: str) -> ClassComparison:
    """Return what differs from an earlier run of the same class, or of another year, student by student where possible.

    `name` says what the earlier records are.
    """
    earlier = _matched(now.students, then.students)
    changes = []
    for number, student in enumerate(now.students):
        before = earlier.get(number)
        if before is not None and before.out_of and student.out_of and abs(student.share - before.share) > MIN_CHANGE:
            changes.append(StudentChange(number, before.share, student.share))
    changes.sort(key=lambda change: (change.before - change.after, now.students[change.student].name))
    assignments = [AssignmentChange("total", then.key_scores.get("median"), now.key_scores.get("median"))]
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

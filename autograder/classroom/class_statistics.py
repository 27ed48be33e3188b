"""Add up what a class knows: everybody's result document is read once, one after the other."""

from collections.abc import Iterable

from autograder.classroom.gradebook import Document, Gradebook, display_name, iter_functions
from autograder.core.text import clean
from autograder.engine.diagnosis.mistake import of_function
from autograder.report.class_records import LETTERS, NO_RESULT, CheckRecord, ClassRecords, MistakeRecord, StudentRecord
from autograder.report.student_feedback import student_exception_lines

MAX_SLOW = 15
MAX_LISTED = 200


def collect(book: Gradebook) -> ClassRecords:
    """Read every result document once and add up what it says."""
    insight = ClassRecords(clean(book.title, 200), book.assignments)
    insight.seconds, insight.seed = book.document["seconds"], book.document["seed"]
    mistakes: dict[str, MistakeRecord] = {}
    statuses: list[dict[str, str]] = []  # by student: function -> letter
    order: dict[str, None] = {}
    for number, (student, result) in enumerate(book.results()):
        line = _line(student)
        if result is None and line.status == "graded":
            line.status, line.reason = "failed", "the result document cannot be read: grade it again"
        insight.students.append(line)
        statuses.append({})
        for name, function in iter_functions(result) if result else ():
            order[name] = None
            statuses[-1][name] = LETTERS[function["status"]]
            _add(insight, mistakes, number, name, function["checks"])
    by_number = {function: place for place, function in enumerate(_course_order(order, book))}
    insight.functions = list(by_number)
    for line, found in zip(insight.students, statuses, strict=True):
        line.letters = "".join(found.get(name, NO_RESULT) for name in insight.functions) if found else ""
    insight.mistakes = sorted(mistakes.values(), key=lambda one: (-len(one.students), by_number[one.function]))
    for place, named in enumerate(insight.mistakes):
        for number in named.students:
            insight.students[number].mistakes.append(place)
    insight.slowest.sort(reverse=True)
    insight.checks = dict(sorted(insight.checks.items(), key=lambda pair: by_number[pair[1].function]))
    return insight


def _line(student: Document) -> StudentRecord:
    return StudentRecord(
        clean(display_name(student), 120),
        clean(student["id"], 60),
        clean(student["submission"], 120),
        student["status"],
        clean(student["reason"], 400),
        student["score"],
        student["out_of"],
        student["late_days"],
        student["seconds"],
        student["file"],
        [clean(note, 400) for note in (*student_exception_lines(student), *student["notes"])],
    )


def _add(
    insight: ClassRecords, mistakes: dict[str, MistakeRecord], number: int, name: str, checks: Iterable[Document]
) -> None:
    for check in checks:
        known = insight.checks.setdefault(check["id"], CheckRecord(check["id"], name, check["title"]))
        known.statuses[check["status"]] += 1
        known.seconds = max(known.seconds, check["seconds"])
        if check["status"] == "timeout":
            insight.timed_out += 1
            if len(insight.timeouts) < MAX_LISTED:
                insight.timeouts.append((number, name, check["title"]))
        elif check["status"] != "not_started":
            _keep_the_slowest(insight.slowest, (check["seconds"], number, name, check["title"]))
        for key, title, hint in _mistakes_in(check["mistake"]):
            entry = mistakes.setdefault(key, MistakeRecord(key, title, name, hint, []))
            if not entry.students or entry.students[-1] != number:  # several checks, one mistake
                entry.students.append(number)


def _mistakes_in(named: Document | None) -> list[tuple[str, str, str]]:
    """Id, title and hint of what was named; two mistakes that were made together count as two."""
    if named is None:
        return []
    known = {mistake.id: mistake for mistake in of_function(named["id"].partition("/")[0])}
    parts = named["id"].split("+")
    if all(part in known for part in parts):
        return [(part, known[part].title, known[part].hint) for part in parts]
    return [(named["id"], named["title"], named.get("hint", ""))]


def _keep_the_slowest(found: list[tuple[float, int, str, str]], entry: tuple[float, int, str, str]) -> None:
    if len(found) < MAX_SLOW or entry > found[-1]:
        found.append(entry)
        found.sort(reverse=True)
        del found[MAX_SLOW:]


def _course_order(names: Iterable[str], book: Gradebook) -> list[str]:
    """Functions in the order of the assignments; within one, as the documents have them."""
    order = {assignment["name"]: place for place, assignment in enumerate(book.assignments)}
    return sorted(names, key=lambda name: order.get(name.partition(".")[0], len(order)))

"""The plan of an export into a learning platform's own file, reported before anything is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.exporters.person_matching import Person, PlatformFile, match
from autograder.classroom.storage.gradebook import Gradebook, has_no_result
from autograder.core.text import clean, counted
from autograder.core.text import listed as listed_words
from autograder.documents.reading import Document
from autograder.errors import UsageError

MAX_NAMES = 8
_WITHOUT_SCORE = "Left out, because they have no score"
SMALL_CLASS = 5


@dataclass
class LmsPlan:
    """The rows of a file for a platform, and lines that say what they change there."""

    keep_existing: bool = False  # leave grades that are there
    replace_comments: bool = False  # also replace comments that Headway did not write
    partial: bool = False  # the file may hold only a part of the class
    rows: list[list[str]] = field(default_factory=list, init=False)  # with the titles
    lines: list[str] = field(default_factory=list, init=False)
    students: int = field(default=0, init=False)
    noted: dict[str, list[str]] = field(default_factory=dict, init=False)  # names, by what happens on the platform
    line_end: str = field(default="\n", init=False)

    def write(self, path: Path) -> int:
        """Write the file; return the number of students in it."""
        csv_cells.write(path, self.rows, line_end=self.line_end)
        return self.students

    def say(self, text: str, names: Sequence[str] = ()) -> None:
        """Add a line that ends with names: all of them, because each may be a grade that the instructor misses."""
        self.lines.append(f"{text}: {listed(names, len(names))}" if names else text)

    def note(self, text: str, name: str) -> None:
        """Note what happens to somebody or something; `say_noted` says it of all together."""
        self.noted.setdefault(text, []).append(name)

    def say_noted(self, *texts: str) -> None:
        """Add a line for each of these texts that was noted."""
        for text in texts:
            if names := self.noted.get(text):
                self.say(f"{text} ({len(names)})", names)


def listed(names: Sequence[str], most: int = MAX_NAMES) -> str:
    """Return the first names of a list, which may be untrusted, and how many more there are."""
    return listed_words([clean(name, 80) for name in names], most)


def has_score(grade: Document | None) -> bool:
    """Return whether an assignment has a score to export: from a submission, or given by the instructor.

    Where it has none, the platform keeps its grade.
    """
    if grade is None or grade["excused"] or has_no_result(grade):
        return False
    return grade["status"] != "missing" or bool(grade["adjustments"])


def rows_of_students(
    plan: LmsPlan,
    book: Gradebook,
    file: PlatformFile,
    person_of: Callable[[Document], Person],
    has_work: Callable[[Document], bool],
) -> list[tuple[list[str], Document]]:
    """Return the rows of the platform's file that are to be filled in, each with its student.

    The plan says who is matched and who is not. Raises UsageError if the file is probably of another class.
    """
    students, where = book.students, file.where
    matching = match(list(map(person_of, students)), list(map(file.person, file.rows)))
    missing = [number for number in matching.unmatched if has_work(students[number])]
    expected = [number for number, student in enumerate(students) if has_work(student)]
    found = len(expected) - len(missing)
    if expected and not found:
        problem = f"{where} contains no id, address or name of a student of this class"
        remedy = f"add names and addresses by a roster: headway grade --out {book.out} --roster FILE"
        raise UsageError(f"{problem}. Give the file of this course, or {remedy}")
    if len(expected) >= SMALL_CLASS and 2 * found < len(expected) and not plan.partial:
        problem = f"{where} has only {found} of the {len(expected)} students with a score"
        hint = "Give the file of the whole course, or, if it is only a part of the class, add --partial"
        raise UsageError(f"{problem}. {hint}")
    plan.say(f"{where}: {counted(len(matching.rows), 'row')} of {len(file.rows)} matched")
    for number in matching.by_name:
        plan.note("Matched by name, because no id or address is the same", book.names[students[number]["submission"]])
    for number in missing:
        plan.note(f"Not exported, {matching.unmatched[number]}", book.names[students[number]["submission"]])
    found_rows = []
    for number, row in enumerate(file.rows):
        if number not in matching.rows:
            plan.note("Not in this class, left out", file.name(row))
        elif has_work(student := students[matching.rows[number]]):
            found_rows.append((row, student))
        else:
            plan.note(_WITHOUT_SCORE, book.names[student["submission"]])
    plan.say_noted(*plan.noted)
    if _WITHOUT_SCORE in plan.noted:
        plan.say("To give one of them 0: headway comment OUT STUDENT TEXT --assignment NAME --score 0")
    plan.students = len(found_rows)
    return found_rows

"""The plan of an export into a learning platform's own file, reported before anything is written.

The students of the class are matched with the rows of that file without guessing. Identifiers are of several kinds: the
platform's own number, the institution's number, a login, an email address. Only identifiers of the same kind are
compared, because a Canvas user and a student may be different people with the same number. A student is matched by name
only if one student of the class and one row of the file have this name, and no identifier contradicts the match.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autograder.classroom.exporters import csv_cells
from autograder.classroom.storage.gradebook import Gradebook, has_no_result
from autograder.classroom.submissions.roster import TITLES, letters
from autograder.core.text import clean, counted
from autograder.core.text import listed as listed_words
from autograder.documents.reading import Document
from autograder.errors import UsageError

MAX_NAMES = 8
_WITHOUT_SCORE = "Left out, because they have no score"
SMALL_CLASS = 5
# "participant" is Moodle's number in a download for several assignments: it may be of another assignment of Moodle.
Kind = Literal["platform", "participant", "number", "login", "email"]

_KINDS: dict[str, Kind] = {**dict.fromkeys(TITLES["number"], "number"), **dict.fromkeys(TITLES["login"], "login")}
_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;]+")


@dataclass(frozen=True)
class Person:
    """The identifiers of a person; texts are normalized."""

    name: tuple[str, ...] = ()  # the words of the name, sorted
    ids: Mapping[Kind, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlatformFile:
    """A learning platform's own file: its cells as they are."""

    where: str  # what to call it in messages
    titles: list[str]
    rows: list[list[str]]  # of students

    def name(self, row: list[str]) -> str:
        """Return the name in a row."""
        raise NotImplementedError

    def person(self, row: list[str]) -> Person:
        """Return what identifies the person in a row."""
        raise NotImplementedError


@dataclass
class Matching:
    """The rows that belong to students."""

    rows: dict[int, int] = field(default_factory=dict)  # from a row's number to a student's
    by_name: list[int] = field(default_factory=list)  # students who were found by their name
    unmatched: dict[int, str] = field(default_factory=dict)  # a student's number, and why there is no row


def name_words(text: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without accents and in alphabetical order.

    "Lovelace, Ada" and "Ada Lovelace" are the same name.
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return tuple(sorted(re.findall(r"\w+", plain)))


def identifiers(cells: Iterable[tuple[str, str]]) -> defaultdict[Kind, set[str]]:
    """Return the identifiers in the cells of a row, each with its column's title, by kind."""
    found: defaultdict[Kind, set[str]] = defaultdict(set)
    for title, cell in cells:
        value = cell.strip().casefold()
        if value and (kind := _KINDS.get(letters(title))):
            found[kind].add(value)
        if _EMAIL.fullmatch(value):
            found["email"].add(value)
    return found


def person_of_student(student: Document, platform: str) -> Person:
    """Return what identifies a student: roster, email, and the ids that were read from the platforms' own files.

    `platform` is the key of the platform's own number in `student["ids"]`, such as `canvas` or `moodle:softmax`.
    """
    found = identifiers(student["roster"].items())
    kinds: dict[str, Kind] = {
        platform: "platform", "moodle": "participant", "gradescope": "number", "nbgrader": "login",
        "institution": "number",
    }  # fmt: skip
    for key, kind in kinds.items():
        if value := str(student["ids"].get(key, "")).strip().casefold():
            found[kind].add(value)
    if address := str(student["email"]).strip().casefold():
        found["email"].add(address)
    return Person(name_words(student["name"]), found)


def match(students: Sequence[Person], rows: Sequence[Person]) -> Matching:
    """Match each student with at most one row, and each row with at most one student."""
    positions: dict[tuple[Kind, str], set[int]] = defaultdict(set)
    rows_by_name: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for number, person in enumerate(rows):
        for kind, values in person.ids.items():
            for value in values:
                positions[kind, value].add(number)
        rows_by_name[person.name].add(number)
    namesakes = Counter(student.name for student in students)
    result = Matching()
    claims: dict[int, list[int]] = defaultdict(list)
    for number, student in enumerate(students):
        found = _rows_by_id(student, positions)
        same_name = rows_by_name[student.name] if student.name else set()
        if len(found) > 1:
            result.unmatched[number] = "the identifiers belong to several rows"
        elif found:
            (row,) = found
            if _is_other_person(student, rows[row]):
                result.unmatched[number] = "a row has this number, but another name"
            else:
                claims[row].append(number)
        elif len(same_name) > 1 or (same_name and namesakes[student.name] > 1):
            result.unmatched[number] = "several people have this name"
        elif same_name and not _disagree(student, rows[min(same_name)]):
            claims[min(same_name)].append(number)
            result.by_name.append(number)
        else:
            result.unmatched[number] = "the row with this name has another id" if same_name else "no such row"
    for row, numbers in claims.items():
        if len(numbers) == 1:
            result.rows[row] = numbers[0]
        else:
            result.unmatched.update(dict.fromkeys(numbers, "several students belong to one row"))
    matched = set(result.rows.values())
    result.by_name = [number for number in result.by_name if number in matched]
    return result


def _rows_by_id(student: Person, positions: Mapping[tuple[Kind, str], set[int]]) -> set[int]:
    """Return the rows with an identifier of the student; the platform's own number settles it."""

    def rows(kind: Kind) -> set[int]:
        return set().union(*(positions.get((kind, value), set()) for value in student.ids.get(kind, ())))

    return rows("platform") or set().union(*map(rows, student.ids))


def _is_other_person(student: Person, row: Person) -> bool:
    """Return whether only a number or login is the same, and no word of the names."""
    certain: tuple[Kind, ...] = ("platform", "email")
    if any(student.ids.get(kind, set()) & row.ids.get(kind, set()) for kind in certain):
        return False
    return bool(student.name and row.name) and not set(student.name) & set(row.name)


def _disagree(student: Person, row: Person) -> bool:
    """Return whether both have the institution's or the platform's number, and different ones."""
    kinds: tuple[Kind, ...] = ("platform", "number")
    both = ((student.ids.get(kind), row.ids.get(kind)) for kind in kinds)
    return any(mine and theirs and not mine & theirs for mine, theirs in both)


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

"""Who is in the class: a CSV file joins the names of submissions with people, and tells who is missing.

Columns are found by their titles, so that what the platforms export can be used as it is: Canvas's gradebook (Student,
ID, SIS User ID, SIS Login ID), Moodle's grading worksheet (Identifier, Full name, Email address), the lists of
Gradescope and nbgrader (id, first_name, last_name, email).
"""

import csv
import difflib
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom.submissions.model import ClassMember, safe_name
from autograder.core.text import clean
from autograder.errors import UsageError

# Titles in lower case, letters only; the first that is there is taken.
_NAME = ("name", "fullname", "student", "studentname")
_FIRST, _LAST = ("firstname", "givenname", "vorname"), ("lastname", "surname", "familyname", "nachname")
_ID = ("id", "studentid", "sid", "identifier", "userid", "sisuserid", "idnumber", "username", "login", "loginid")
_LOGIN = ("sisloginid", "username", "login", "loginid", "sisuserid", "studentid", "sid", "idnumber", "github")
_EMAIL = ("email", "emailaddress", "mail")


@dataclass(frozen=True)
class RosterEntry:
    """A line of the roster."""

    name: str
    id: str
    email: str
    row: dict[str, str]
    keys: frozenset[str]  # what a submission may be called that is this person's


def read(path: Path) -> list[RosterEntry]:
    """The people on a roster.

    Raises:
        UsageError: if it cannot be read, has no column that names people, or names somebody twice.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"the roster {path} cannot be read ({error.strerror}). Name a CSV file: --roster FILE"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"the roster {path} is not UTF-8. Save it as CSV (UTF-8)") from None
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(text[:4000], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    reader = csv.DictReader(io.StringIO(text, newline=""), dialect=dialect)
    try:
        rows = list(reader)
    except csv.Error as error:  # a quotation mark that is never closed
        raise UsageError(
            f"the roster {path}, after line {reader.line_num}: this is not CSV ({error}). Save it as CSV (UTF-8) again"
        ) from None
    titles = {re.sub(r"[^a-z]", "", (title or "").lower()): title for title in reversed(reader.fieldnames or [])}
    if not any(title in titles for title in (*_NAME, *_ID, *_EMAIL, *_LAST)):
        shown = ", ".join(title or "" for title in (reader.fieldnames or [])[:6])
        raise UsageError(f"the roster {path} has no column name, id or email (it has: {clean(shown, 200)})")
    people = []
    for row in rows:
        person = _person({key or "": value or "" for key, value in row.items() if isinstance(value, str)}, titles)
        if person is not None:
            people.append(person)
    seen: dict[str, int] = {}
    for position, person in enumerate(people, start=1):
        key = person.id or person.email or person.name
        if key in seen:
            raise UsageError(f"the roster {path} has {clean(key, 80)!r} twice (entries {seen[key]} and {position})")
        seen[key] = position
    return people


def _person(row: dict[str, str], titles: dict[str, str]) -> RosterEntry | None:
    def first(choices: Iterable[str]) -> str:
        return next((row[titles[c]].strip() for c in choices if c in titles and row.get(titles[c], "").strip()), "")

    given, family = first(_FIRST), first(_LAST)
    name = first(_NAME) or f"{given} {family}".strip()
    if "," in name:  # Canvas: "Lovelace, Ada"
        family, _, given = (part.strip() for part in name.partition(","))
        name = f"{given} {family}".strip()
    number, email = first(_ID), first(_EMAIL)
    number = re.sub(r"^(?:participant|teilnehmer/in)\s*", "", number, flags=re.IGNORECASE)  # Moodle: "Participant 1234"
    if not (name or number or email) or name.lower() in ("points possible", "student, test"):
        return None  # an empty line, or one of Canvas's own
    logins = [row[titles[title]].strip() for title in _LOGIN if title in titles and row.get(titles[title])]
    words = _words(name)
    names = [f"{given}{family}", f"{family}{given}", *([name, "".join(reversed(words))] if words else [])]
    keys = {plain(text) for text in (number, email, *logins, *names)}
    keys |= {plain(text.partition("@")[0]) for text in (email, *logins)}
    return RosterEntry(clean(name, 100), clean(number, 100), clean(email, 100), row, frozenset(keys - {""}))


def plain(text: str) -> str:
    """Letters and digits in lower case, accents taken off: how names are compared."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if char.isalnum())


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word]


def join(students: list[ClassMember], people: list[RosterEntry]) -> list[ClassMember]:
    """The class as the roster has it: everybody on it in its order, then those who are not on it."""
    wanted: dict[str, list[int]] = defaultdict(list)
    for place, person in enumerate(people):
        for key in person.keys:
            wanted[key].append(place)
    by_person: dict[int, ClassMember] = {}
    others = []
    for student in students:
        number = _owner(student, wanted)
        if number is None or number in by_person:
            if number is not None:
                note = f"handed in twice: see {by_person[number].submission}"
            else:
                several = max(len(set(wanted.get(plain(text), ()))) for text in (student.submission, student.name))
                note = (
                    f"{several} people on the roster have this name: name the work by id or e-mail address"
                    if several
                    else "not on the roster"
                )
            others.append(replace(student, notes=(*student.notes, note)))
        else:
            person = people[number]
            by_person[number] = replace(
                student,
                name=person.name or student.name,
                id=person.id or student.id,
                email=person.email or student.email,
                roster=person.row,
            )
    taken = {student.submission for student in students}
    return [*(by_person.get(i) or _missing(person, taken) for i, person in enumerate(people)), *others]


def _owner(student: ClassMember, wanted: dict[str, list[int]]) -> int | None:
    """Whose it is: by number first, then by address, then by name; never by a name that two people have."""
    for text in (student.id, student.email, student.submission, student.name):
        found = set(wanted.get(plain(text), [])) if text else set()
        if len(found) == 1:
            return found.pop()
    return None


def _missing(person: RosterEntry, taken: set[str]) -> ClassMember:
    name = safe_name(person.id or person.email or person.name)
    if name in taken:
        name = f"{name} (missing)"
    taken.add(name)
    return ClassMember(name, person.name, person.id, person.email, roster=person.row)


class StudentNames:
    """Every name that the students of a class have: what the submission is called, the person's, number, address."""

    def __init__(self, students: Sequence[ClassMember]) -> None:
        self._submissions = {one.submission for one in students}
        self._of: dict[str, set[str]] = defaultdict(set)
        for one in students:
            for name in filter(None, (one.email, one.id, one.name, one.submission)):
                self._of[name].add(one.submission)

    def find(self, name: str, say: str) -> str | None:
        """The submission of the student of that name, or None.

        Args:
            say: where to say another name, for the error.

        Raises:
            UsageError: if several have it.
        """
        if name in self._submissions:  # what a submission is called is its alone, whoever has that name too
            return name
        found = sorted(self._of.get(name, ()))
        if len(found) > 1:
            several = ", ".join(repr(one) for one in found)
            raise UsageError(f"{name!r} matches several students. Use the name of the submission: {say} with {several}")
        return found[0] if found else None

    def unknown(self, name: str) -> str:
        """That nobody has this name, and who may be meant."""
        close = difflib.get_close_matches(name, self._of, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Their names are those of the folders."
        return f"there is no student {clean(name, 80)!r} in the class. {hint}"

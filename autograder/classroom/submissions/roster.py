"""Match submissions with the people on a roster, a CSV file, and find out who is missing.

Columns are found by their titles, so that the exports of Canvas, Moodle, Gradescope and nbgrader can be used as they
are.
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
from autograder.core.text import clean, counted
from autograder.errors import UsageError

# Titles in lower case, letters only; the first that the roster has is used.
_NAME = ("name", "fullname", "student", "studentname")
_FIRST, _LAST = ("firstname", "givenname", "vorname"), ("lastname", "surname", "familyname", "nachname")
_ID = ("id", "studentid", "sid", "identifier", "userid", "sisuserid", "idnumber", "username", "login", "loginid")
_LOGIN = ("sisloginid", "username", "login", "loginid", "sisuserid", "studentid", "sid", "idnumber", "github")
_EMAIL = ("email", "emailaddress", "mail")


@dataclass(frozen=True)
class RosterEntry:
    """A row of the roster; `keys` are the normalized names that a submission of this person may have."""

    name: str
    id: str
    email: str
    row: dict[str, str]
    keys: frozenset[str]


def read_roster(path: Path) -> list[RosterEntry]:
    """Read the people on a roster.

    Raises:
        UsageError: if it cannot be read, has no column that identifies people, or lists somebody twice.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the roster {path}: {error.strerror}. Check the path: --roster FILE") from None
    except UnicodeDecodeError:
        raise UsageError(f"the roster {path} is not UTF-8. Save it as CSV (UTF-8).") from None
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(text[:4000], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    reader = csv.DictReader(io.StringIO(text, newline=""), dialect=dialect)
    try:
        rows = list(reader)
    except csv.Error as error:  # for example a quotation mark that is never closed
        problem = f"is not valid CSV after line {reader.line_num}: {error}. Save it as CSV (UTF-8) again."
        raise UsageError(f"the roster {path} {problem}") from None
    titles = {re.sub(r"[^a-z]", "", (title or "").lower()): title for title in reversed(reader.fieldnames or [])}
    if not any(title in titles for title in (*_NAME, *_ID, *_EMAIL, *_LAST)):
        columns = ", ".join(title or "" for title in (reader.fieldnames or [])[:6])
        raise UsageError(
            f"the roster {path} has no column name, id or email. Rename one of these: {clean(columns, 200)}"
        )
    entries: dict[str, RosterEntry] = {}
    for row in rows:
        entry = _entry({key or "": value or "" for key, value in row.items() if isinstance(value, str)}, titles)
        if entry is None:
            continue
        key = entry.id or entry.email or entry.name
        if key in entries:
            first = list(entries).index(key) + 1
            where = f"entries {first} and {len(entries) + 1}"
            raise UsageError(f"the roster {path} lists {clean(key, 80)!r} twice: {where}. Remove one of them")
        entries[key] = entry
    return list(entries.values())


def _entry(row: dict[str, str], titles: dict[str, str]) -> RosterEntry | None:
    """Return the person in a row, or None if there is none in it."""

    def first(choices: Iterable[str]) -> str:
        cells = (row.get(titles[title], "").strip() for title in choices if title in titles)
        return next(filter(None, cells), "")

    given, family = first(_FIRST), first(_LAST)
    name = first(_NAME) or f"{given} {family}".strip()
    if "," in name:  # Canvas: "Lovelace, Ada"
        family, _, given = (part.strip() for part in name.partition(","))
        name = f"{given} {family}".strip()
    number, email = first(_ID), first(_EMAIL)
    number = re.sub(r"^(?:participant|teilnehmer/in)\s*", "", number, flags=re.IGNORECASE)  # Moodle: "Participant 1234"
    if not (name or number or email) or name.lower() in ("points possible", "student, test"):
        return None  # an empty row, or one that Canvas adds
    logins = [row[titles[title]].strip() for title in _LOGIN if title in titles and row.get(titles[title])]
    words = re.split(r"[\s,]+", name)
    names = [name, "".join(reversed(words)), f"{given}{family}", f"{family}{given}"]
    keys = {_normalize(text) for text in (number, email, *logins, *names)}
    keys |= {_normalize(text.partition("@")[0]) for text in (email, *logins)}
    return RosterEntry(clean(name, 100), clean(number, 100), clean(email, 100), row, frozenset(keys - {""}))


def _normalize(text: str) -> str:
    """Return the letters and digits of a name in lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if char.isalnum())


def match_roster(members: list[ClassMember], entries: list[RosterEntry]) -> list[ClassMember]:
    """Return everybody on the roster, in its order, then the students who are not on it."""
    positions: dict[str, set[int]] = defaultdict(set)
    for number, entry in enumerate(entries):
        for key in entry.keys:
            positions[key].add(number)
    matched: dict[int, ClassMember] = {}
    others = []
    for member in members:
        position = _position_of(member, positions)
        if position is not None and position not in matched:
            entry = entries[position]
            # The platform's form of an id counts: in nbgrader, it is the name of a folder.
            is_same_id = member.id and _normalize(member.id) == _normalize(entry.id)
            student_id = member.id if is_same_id else entry.id or member.id
            name, email = entry.name or member.name, entry.email or member.email
            matched[position] = replace(member, name=name, id=student_id, email=email, roster=entry.row)
            continue
        namesakes = max(len(positions.get(_normalize(text), ())) for text in (member.submission, member.name))
        if position is not None:
            note = f"submitted twice: see {matched[position].submission}"
        elif namesakes:
            note = f"{counted(namesakes, 'student')} on the roster have this name: name the submission by id or email"
        else:
            note = "not on the roster"
        others.append(replace(member, notes=(*member.notes, note)))
    submissions = {member.submission for member in members}
    return [*(matched.get(number) or _missing(entry, submissions) for number, entry in enumerate(entries)), *others]


def _position_of(member: ClassMember, positions: dict[str, set[int]]) -> int | None:
    """Find a student on the roster by id, then email, then name; a name that several people have matches nobody."""
    for text in filter(None, (member.id, member.email, member.submission, member.name)):
        if len(matching := positions.get(_normalize(text), ())) == 1:
            return next(iter(matching))
    return None


def _missing(entry: RosterEntry, submissions: set[str]) -> ClassMember:
    """Return the student of a roster entry without a submission, under a name that is not in use yet."""
    name = safe_name(entry.id or entry.email or entry.name)
    if name in submissions:
        name = f"{name} (missing)"
    submissions.add(name)
    return ClassMember(name, entry.name, entry.id, entry.email, roster=entry.row)


class StudentNames:
    """The names of the students of a class: each can be found by submission, name, id and email."""

    def __init__(self, members: Sequence[ClassMember]) -> None:
        self._submissions = {member.submission for member in members}
        self._submissions_by_name: dict[str, set[str]] = defaultdict(set)
        for member in members:
            for name in filter(None, (member.email, member.id, member.name, member.submission)):
                self._submissions_by_name[name].add(member.submission)

    def find(self, name: str, option: str) -> str | None:
        """Return the submission of the student of that name, or None.

        Raises:
            UsageError: if several students have that name; `option` is where the user can give another.
        """
        if name in self._submissions:  # the name of a submission is unique, even if it is also somebody's name
            return name
        matching = sorted(self._submissions_by_name.get(name, ()))
        if len(matching) > 1:
            choices = ", ".join(map(repr, matching))
            raise UsageError(f"{name!r} matches several students. Name one submission: {option} with {choices}")
        return matching[0] if matching else None

    def unknown(self, name: str) -> str:
        """Return a message that no student has this name, with the closest name."""
        close = difflib.get_close_matches(name, self._submissions_by_name, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Use the name of the submission."
        return f"no student {clean(name, 80)!r} in the class. {hint}"

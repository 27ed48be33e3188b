"""Read a roster, a CSV file with the people of a class, and Moodle's grading worksheet, which also says who is late.

Columns are found by their titles, so that the exports of Canvas, Moodle, Gradescope and nbgrader can be used as they
are.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from autograder.classroom.submissions.model import TEST_STUDENT_NAMES
from autograder.core import csv_table
from autograder.core.text import clean
from autograder.errors import UsageError

TITLES: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("roster_titles.toml").read_text("utf-8"))
_NAME, _ID, _EMAIL, _SECTION = (TITLES[key] for key in ("name", "id", "email", "section"))
_LOGIN = [*TITLES["number"], *TITLES["login"], *TITLES["account"]]
# Moodle's worksheets: "Participant 1234", in the language of the person who downloaded it.
MOODLE_PARTICIPANT = re.compile(
    r"(?:participant|participante|teilnehmer/in|teilnehmer|deelnemer|partecipante|deltaker|deltager)\s*(\d+)",
    re.IGNORECASE,
)
# The login of Canvas's test student is a digest in hexadecimal digits.
TEST_STUDENT_LOGIN = re.compile(r"[0-9a-f]{40}")
# The units of `format_time` in the languages of most courses; the beginning of a word is enough.
_UNITS = {
    timedelta(days=365): ("year", "jahr", "an", "año", "ann", "ano", "jaar"),
    timedelta(days=1): ("day", "tag", "jour", "día", "dia", "giorn", "dag"),
    timedelta(hours=1): ("hour", "stunde", "std", "heure", "hora", "or", "uur", "uren"),
    timedelta(minutes=1): ("min",),
    timedelta(seconds=1): ("sec", "sek", "seg"),
}
_AMOUNT = re.compile(r"(\d+)\s+([^\W\d_]+)")


@dataclass(frozen=True)
class RosterEntry:
    """A row of the roster; `keys` are the normalized names that a submission of this person may have."""

    name: str
    id: str
    email: str
    row: dict[str, str]
    keys: frozenset[str]
    ids: dict[str, str] = field(default_factory=dict)  # by platform, if the roster is that platform's
    section: str = ""
    ta: str = ""
    late_by: timedelta | None = None  # how late the work was, if the row is of a worksheet that says so


def read_roster(path: Path) -> list[RosterEntry]:
    """Read the people on a roster, or on all of those in a folder.

    Raises UsageError if it cannot be read, has no column that identifies people, or lists somebody twice.
    """
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    rows = [row for file in files for row in read_rows(file, "the roster")]
    if not rows:
        titles_needed = "It needs a row of titles, such as name,id,email, and a row for each student"
        raise UsageError(f"the roster {path} lists no students. {titles_needed}")
    titles = titles_by_word(rows[0])
    if not any(title in titles for title in (*_NAME, *_ID, *_LOGIN, *_EMAIL, *TITLES["last"])):
        columns = clean(", ".join(list(rows[0])[:6]), 200)
        raise UsageError(f"the roster {path} has no column name, id or email. Rename one of these: {columns}")
    return roster_entries(rows, f"the roster {path}")


def read_rows(path: Path, what: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file by title; raise UsageError, with `what` the file is, if it cannot be read."""
    table = csv_table.read_given(path, "Save it as CSV (UTF-8) again", what=what)
    return [dict(zip(table.titles, row, strict=True)) for row in table.rows]


def roster_entries(rows: Sequence[dict[str, str]], where: str) -> list[RosterEntry]:
    """Return the people in the rows of a roster; raise UsageError, naming `where`, if a person is listed twice."""
    entries: dict[str, RosterEntry] = {}
    for row in rows:
        entry = _entry(row)
        if entry is None:
            continue
        key = entry.id or entry.email or entry.name
        if key in entries and (both := _in_both_sections(entries[key], entry)):
            entry = both
        elif key in entries:
            positions = f"entries {list(entries).index(key) + 1} and {len(entries) + 1}"
            raise UsageError(f"{where} lists {clean(key, 80)!r} twice: {positions}. Remove one of them")
        entries[key] = entry
    return list(entries.values())


def _in_both_sections(first: RosterEntry, second: RosterEntry) -> RosterEntry | None:
    """Return the entry of a person who is listed in two sections; None if the rows differ in anything else."""
    is_new = second.section not in ("", first.section, *first.section.split(", "))
    if not (first.section and is_new) or (first.name, first.id, first.email) != (second.name, second.id, second.email):
        return None
    titles = titles_by_word(first.row)
    title, section = next(titles[word] for word in _SECTION if word in titles), f"{first.section}, {second.section}"
    assistants = ", ".join(dict.fromkeys(filter(None, (first.ta, second.ta))))
    return replace(first, row={**first.row, title: section}, section=section, ta=assistants)


def titles_by_word(titles: Iterable[str | None]) -> dict[str, str]:
    """Return the titles of a roster by their letters in lower case; the first of several counts."""
    by_word: dict[str, str] = {}
    for title in titles:
        by_word.setdefault(letters(title or ""), title or "")
    return by_word


def letters(title: str) -> str:
    """Return the letters of a title in lower case."""
    return "".join(char for char in unicodedata.normalize("NFC", title.lower()) if char.isalpha())


def _entry(row: dict[str, str]) -> RosterEntry | None:
    """Return the person in a row, or None if there is none in it."""
    titles = titles_by_word(row)

    def first(choices: Iterable[str]) -> str:
        cells = (row.get(titles[title], "").strip() for title in choices if title in titles)
        return next(filter(None, cells), "")

    given, family = first(TITLES["first"]), first(TITLES["last"])
    name = first(_NAME) or f"{given} {family}".strip()
    if "," in name:  # Canvas: "Lovelace, Ada"
        family, _, given = (part.strip() for part in name.partition(","))
        name = f"{given} {family}".strip()
    is_named = "student" in titles or {"lastname", "firstname"} <= titles.keys()
    is_canvas = is_named and {"id", "section"} <= titles.keys() and ("sisloginid" in titles or "sisuserid" in titles)
    if is_canvas and _is_test_student(name, row, titles):
        return None
    number, email = first(_ID), first(_EMAIL)
    ids = {"canvas": number} if is_canvas and row.get(titles["id"], "").strip() else {}
    if is_canvas:  # the number in "ID" is Canvas's own, which no other platform knows
        number = first(("sisuserid", "sisloginid")) or number
    participants = (MOODLE_PARTICIPANT.fullmatch(cell.strip()) for cell in row.values())
    if participant := next(filter(None, participants), None):
        ids["moodle"] = participant[1]
        number = next(filter(None, (first(("idnumber", "idnummer", "numérodidentification")), participant[1])))
    if not (name or number or email) or name.lower() == "points possible":
        return None  # an empty row, or one that Canvas adds
    logins = [row[titles[title]].strip() for title in _LOGIN if title in titles and row.get(titles[title])]
    words = re.split(r"[\s,]+", name)
    names = [name, "".join(reversed(words)), f"{given}{family}", f"{family}{given}"]
    keys = {normalize(text) for text in (*(() if number in ids.values() else (number,)), email, *logins, *names)}
    keys |= {normalize(text.partition("@")[0]) for text in (email, *logins)}
    keys |= {normalize(alias) for alias in first(("alias", "aliases")).split(";")}
    keys |= {platform_key(platform, value) for platform, value in ids.items()}
    shown = (name, number, email, first(_SECTION), first(TITLES["ta"]))
    name, number, email, section, ta = (clean(text, 100) for text in shown)
    return RosterEntry(name, number, email, row, frozenset(keys - {""}), ids, section, ta)


def _is_test_student(name: str, row: dict[str, str], titles: dict[str, str]) -> bool:
    login = row.get(titles.get("sisloginid", ""), "").strip()
    has_no_id = not row.get(titles.get("sisuserid", ""), "").strip()
    return normalize(name) in TEST_STUDENT_NAMES or bool(has_no_id and TEST_STUDENT_LOGIN.fullmatch(login))


def identifiers(row: dict[str, str]) -> list[str]:
    """Return every id, login and address in a row of a roster."""
    titles = titles_by_word(row)
    cells = (row[titles[word]].strip() for word in (*_ID, *_LOGIN, *_EMAIL) if word in titles)
    return list(dict.fromkeys(filter(None, cells)))


def normalize(text: str) -> str:
    """Return the letters and digits of a name in lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if char.isalnum())


def platform_key(platform: str, number: str) -> str:
    """Return the key of an id that only one platform uses."""
    return f"{platform}:{number}"


def read_worksheet(folder: Path, names: list[str]) -> dict[str, RosterEntry]:
    """Return the participants by number, if a worksheet of Moodle lies in the folder of a download.

    Moodle's download has neither addresses nor dates, but the worksheet ("Download grading worksheet") has. Its column
    with the time of submission has no time zone, so it is not used.

    Raises UsageError if two worksheets differ about a participant: nothing says which one is the newer.
    """
    found: dict[str, RosterEntry] = {}
    file_of: dict[str, str] = {}
    for name in (name for name in names if name.lower().endswith(".csv")):
        for row in read_rows(folder / name, "the worksheet"):
            person = _entry(row)
            if person is None or not (number := person.ids.get("moodle")):
                continue
            status = next((cell for title, cell in row.items() if letters(title) in TITLES["status"]), None)
            person = replace(person, late_by=None if status is None else late_by(status))
            if found.setdefault(number, person) != person:
                both = f"two grading worksheets in {folder} differ: {file_of[number]} and {name}"
                raise UsageError(f"{both}. Keep only the one that you downloaded last")
            file_of[number] = name
    return found


def late_by(status: str) -> timedelta:
    """Return how late a submission was by its status; zero, on time, if the status has no duration.

    The status says "Submitted for grading - 1 day 2 hours late", in the language of the person who downloaded it. The
    text is made in `col_status` of mod/assign/gradingtable.php, with the duration of `format_time`
    (github.com/moodle/moodle). It refers to the due date in Moodle.
    """
    for part in status.split(" - ")[1:]:
        total = timedelta(0)
        for count, word in _AMOUNT.findall(part):
            total += int(count) * _unit(word)
        if total:
            return total
    return timedelta(0)


def _unit(word: str) -> timedelta:
    begins = word.lower().startswith
    matching = ((len(start), unit) for unit, starts in _UNITS.items() for start in filter(begins, starts))
    return max(matching, default=(0, timedelta(0)))[1]

"""Read from a grading worksheet of Moodle who each participant is, and how late the submission was.

Moodle's download has neither addresses nor dates, but the worksheet ("Download grading worksheet") has. Its column
"Status" says "Submitted for grading - 1 day 2 hours late", in the language of the person who downloaded it. The text is
made in `col_status` of mod/assign/gradingtable.php, with the duration of `format_time` (github.com/moodle/moodle). It
refers to the due date in Moodle. The column with the time itself has no time zone, so it is not used.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from autograder.classroom.submissions.roster import RosterEntry, read_rows, roster_entries
from autograder.errors import UsageError

# The units of `format_time` in the languages of most courses; the beginning of a word is enough.
_UNITS = {
    timedelta(days=365): ("year", "jahr", "an", "año", "ann", "ano", "jaar"),
    timedelta(days=1): ("day", "tag", "jour", "día", "dia", "giorn", "dag"),
    timedelta(hours=1): ("hour", "stunde", "std", "heure", "hora", "or", "uur", "uren"),
    timedelta(minutes=1): ("min",),
    timedelta(seconds=1): ("sec", "sek", "seg"),
}
_STATUS = ("status", "statut", "estado", "estatus", "stato")
_AMOUNT = re.compile(r"(\d+)\s+([^\W\d_]+)")


@dataclass(frozen=True)
class Participant:
    """A row of a worksheet: the person, and how late the work was; None if the worksheet does not say."""

    person: RosterEntry
    late_by: timedelta | None


def read_worksheet(folder: Path, names: list[str]) -> dict[str, Participant]:
    """Return the participants by number, if a worksheet lies in the folder of a download; `late_by` zero is on time.

    Raises UsageError if two worksheets differ about a participant: nothing says which one is the newer.
    """
    found: dict[str, Participant] = {}
    file_of: dict[str, str] = {}
    for name in names:
        if name.lower().endswith(".csv"):
            for row in read_rows(folder / name, "the worksheet"):
                for person in roster_entries([row], f"the worksheet {name}"):
                    if number := person.ids.get("moodle"):
                        status = next((cell for title, cell in row.items() if title.strip().lower() in _STATUS), None)
                        participant = Participant(person, None if status is None else late_by(status))
                        if found.setdefault(number, participant) != participant:
                            both = f"two grading worksheets in {folder} differ: {file_of[number]} and {name}"
                            raise UsageError(f"{both}. Keep only the one that you downloaded last")
                        file_of[number] = name
    return found


def late_by(status: str) -> timedelta:
    """Return how late a submission was by its status; zero if the status has no duration."""
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

"""Read from a grading worksheet of Moodle how late each submission was.

Moodle's download has no dates, but the worksheet ("Download grading worksheet") has them in the column "Status":
"Submitted for grading - 1 day 2 hours late", in the language of the person who downloaded it. The text is made in
`col_status` of mod/assign/gradingtable.php, with the duration of `format_time` (github.com/moodle/moodle). It refers to
the due date in Moodle. The column with the time itself has no time zone, so it is not used.
"""

import re
from datetime import timedelta
from pathlib import Path

from autograder.classroom.submissions.roster import MOODLE_PARTICIPANT, read_rows

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


def read_lateness(folder: Path, names: list[str]) -> dict[str, timedelta]:
    """Return how late each participant submitted, zero for on time, if a worksheet lies in the folder of a download."""
    lateness: dict[str, timedelta] = {}
    for name in names:
        if name.lower().endswith(".csv"):
            for row in read_rows(folder / name, "the worksheet"):
                numbers = (MOODLE_PARTICIPANT.fullmatch(cell.strip()) for cell in row.values())
                status = next((cell for title, cell in row.items() if title.strip().lower() in _STATUS), None)
                if status is not None and (number := next(filter(None, numbers), None)):
                    lateness[number[1]] = late_by(status)
    return lateness


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
    matching = (
        (len(start), unit) for unit, starts in _UNITS.items() for start in starts if word.lower().startswith(start)
    )
    return max(matching, default=(0, timedelta(0)))[1]

"""Make untrusted text safe to show (student output, names, file names), and put counts, ages and times into words."""

import contextlib
import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Terminal commands (CSI; OSC up to its end; two-character escapes), control characters, direction overrides and marks,
# line breaks other than \n, invisible characters that make two names differ, and characters that XML does not allow.
# Joiners stay: scripts and emoji need them.
_UNSAFE = (
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)|\x1b[ -~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]"
)


def clean(text: Any, limit: int = 4000) -> str:
    """Return text without escape sequences, control and direction characters, at most `limit` characters long."""
    text = str(text)[: 20 * limit]  # Cleaning megabytes only to discard them would take too long.
    safe = without_controls(text)
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def clean_name(name: Any, limit: int = 80) -> str:
    """Return a name, such as that of a folder, as `clean` does, on one line."""
    return clean(name, limit).replace("\n", " ").replace("\t", " ")


def without_controls(text: str) -> str:
    """Return text without escape sequences, control and direction characters."""
    return (
        text if text.isascii() and text.isprintable() else re.sub(_UNSAFE, "", text).encode("utf-8", "replace").decode()
    )


def escape_controls(text: str) -> str:
    """Return a JSON text with control and direction characters as escapes, which a terminal does not obey."""
    return re.sub(_UNSAFE, lambda match: "".join(f"\\u{ord(character):04x}" for character in match[0]), text)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: "1 file", "2 files"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first names of a list, and how many more there are."""
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return separator.join([*names[:most], *more])


def did_you_mean(name: str, choices: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a question about the choice that is most like a name, with a space after it; empty if none is like it."""
    import difflib

    close = difflib.get_close_matches(name, choices, n=1, cutoff=cutoff)
    return f"Did you mean {close[0]!r}? " if close else ""


def code_block(text: str, language: str = "") -> str:
    """Return a code block in Markdown that the text cannot end: its fence is longer than any in the text."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`*", text)))
    return f"{fence}{language}\n{text}\n{fence}"


def now() -> str:
    """Return the current time as it is stored: ISO 8601, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def ago(since: str, now: datetime.datetime | None = None) -> str:
    """Return how long ago an ISO 8601 time was: "now", "5 min", "3 h", "2 d"."""
    seconds = ((now or datetime.datetime.now(datetime.UTC)) - datetime.datetime.fromisoformat(since)).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def time_zone(name: str) -> datetime.tzinfo | None:
    """Return the time zone of a name such as "Europe/Berlin"; None if this machine knows none."""
    import zoneinfo

    with contextlib.suppress(LookupError, ValueError, OSError):
        return datetime.UTC if name == "UTC" else zoneinfo.ZoneInfo(name)
    return None


def stored_time(text: str, zone: str = "UTC") -> datetime.datetime | None:
    """Return a stored time in a time zone, or in UTC if this machine does not know it; None if it is no time."""
    with contextlib.suppress(ValueError, OverflowError):
        time = datetime.datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).astimezone(time_zone(zone) or datetime.UTC)
    return None


def local_time(text: str | None, zone: str) -> str:
    """Return a stored time as people read it: "5 March 2026, 15:02 (Europe/Berlin)"."""
    time = stored_time(text or "", zone)
    return f"{time.day} {time:%B %Y, %H:%M} ({time.tzinfo})" if time else clean(text or "", 40)

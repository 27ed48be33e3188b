"""Format how long ago something happened."""

import datetime


def ago(since: str, now: datetime.datetime | None = None) -> str:
    """Return how long ago an ISO 8601 time was: "now", "5 min", "3 h", "2 d"."""
    seconds = ((now or datetime.datetime.now(datetime.UTC)) - datetime.datetime.fromisoformat(since)).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"

"""Format how long a function takes and how difficult it is."""

DIFFICULTY = {1: "straightforward", 2: "needs some thought", 3: "needs pen and paper"}


def duration(minutes: int) -> str:
    """Return minutes in words: "25 min", "1 h 50 min", "2 h"."""
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest or not hours)
    return " ".join(parts)

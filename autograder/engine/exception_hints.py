"""Explain common exceptions of Python and NumPy to somebody who meets them for the first time."""

import re
from pathlib import Path

from autograder.errors import StudentException

_SHAPE = re.compile(r"\(([\d,]*)\)")

# The types (*: any) and a pattern of the message (none: any message), and below them the hint. The first match counts.
_LINES = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
_ENTRIES = [(*entry.partition(": ")[::2], hint.strip()) for entry, hint in zip(_LINES[::2], _LINES[1::2], strict=True)]
HINTS = [(types.split("|"), pattern, hint) for types, pattern, hint in _ENTRIES]


def hint_for_exception(exception: StudentException) -> str | None:
    """Return a hint on the usual cause of the exception, or None."""
    if exception.type == "ValueError" and "could not be broadcast together" in exception.message:
        return _broadcast_hint(exception.message)
    for types, pattern, hint in HINTS:
        if (exception.type in types or types == ["*"]) and re.search(pattern, exception.message):
            return hint
    return None


def _broadcast_hint(message: str) -> str:
    shapes = [tuple(filter(None, shape.split(","))) for shape in _SHAPE.findall(message)]
    if len(shapes) == 2:
        short, long = sorted(shapes, key=len)
        if len(short) == len(long) - 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long))):
            return "one of them has an axis less; if max, sum or mean removed it, keepdims=True keeps it, with length 1"
    return "shapes are aligned from the right: two lengths must be equal, or one of them must be 1"

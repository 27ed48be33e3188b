"""The words for wrong values: the largest error, and the marks of the map. Like `wording`, nothing here renders."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from autograder.documents.reading import Document
from autograder.report.wording import LABELS

# The marks of the map of wrong elements, as characters that can be told apart without their colors.
MAP_GLYPHS = {"0": "·", "1": "░", "2": "▒", "3": "█", "n": "N"}
MAP_WORDS = {"0": "correct", "1": "slightly off", "2": "off", "3": "far off", "n": "nan or infinite"}
EXACTLY_WRONG = "wrong"  # of values that are compared exactly
# The thresholds of `engine.comparison.error_map`.
MAP_THRESHOLDS = {"1": "up to 0.1%", "2": "up to 10%", "3": "more than 10%"}
THRESHOLD_NOTE = "The percentages are of the largest correct value."


class WorstValue(NamedTuple):
    """The value that differs most, in words."""

    label: str
    where: str  # its index; empty for a single value
    yours: str
    expected: str
    tolerance: str  # empty for values that are compared exactly


def worst_value(check: Document) -> WorstValue | None:
    """Return the value that differs most; None if no values were compared.

    Values that are compared exactly have no largest error; for them it is the first that differs.
    """
    worst = check["worst"]
    if not worst:
        return None
    places = zip(worst["axes"], worst["index"], strict=True)
    where = ", ".join(f"{axis} {i}".strip() for axis, i in places)
    where = f"[{where}]" if "" in worst["axes"] else where
    tolerance = re.sub(r"e([-+])0", r"e\1", f"{worst['tolerance']:.2g}") if worst["tolerance"] else ""
    label = "value" if not where else "largest error" if tolerance else "first wrong value"
    return WorstValue(label, where, number(worst["yours"]), number(worst["expected"]), tolerance)


def worst_value_text(check: Document) -> tuple[str, str | None]:
    """Return the label and the text of the value that differs most, or None as its text."""
    worst = worst_value(check)
    if worst is None:
        return "", None
    text = f"{LABELS['yours']} {worst.yours}, {LABELS['expected']} {worst.expected}"
    text = f"{worst.where}: {text}" if worst.where else text
    return worst.label, f"{text} ({LABELS['tolerance']} {worst.tolerance})" if worst.tolerance else text


def number(value: Any) -> str:
    """Return a number with at most ten digits, enough to see where two of them differ."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def short_number(value: Any) -> str:
    """Return a number with three digits, for tables of many."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{value:.3g}" if is_number else str(value)


def difference(actual: Any, expected: Any) -> Any:
    """Return the difference of two numbers; for other values a sign that they differ, or nothing."""
    if isinstance(actual, float) and isinstance(expected, float):
        return actual - expected
    return "" if actual == expected else "≠"


def map_axes(picture: Document) -> tuple[str, str]:
    """Return the names of the vertical and the horizontal axis of a map, empty where an axis has only a number."""
    down, across = ["", *picture["axes"]][-2:]
    return down, across


class LegendEntry(NamedTuple):
    """A mark of the map and its meaning."""

    mark: str
    glyph: str
    word: str
    text: str  # the word with the error that the mark stands for, such as "off (up to 10%)"


def map_legend(check: Document) -> list[LegendEntry]:
    """Return the marks that occur in a check's map; values that are compared exactly are just wrong."""
    is_exact = check["worst"] is not None and not check["worst"]["tolerance"]
    legend = []
    for mark in sorted(set("".join(check["error_map"]["rows"]))):
        word, error = MAP_WORDS[mark], MAP_THRESHOLDS.get(mark)
        if is_exact and mark == "3":
            word, error = EXACTLY_WRONG, None
        legend.append(LegendEntry(mark, MAP_GLYPHS[mark], word, f"{word} ({error})" if error else word))
    return legend


def threshold_note(legend: Sequence[LegendEntry]) -> str:
    """Return what the percentages of a legend refer to; empty if it has none."""
    return THRESHOLD_NOTE if any(entry.text != entry.word for entry in legend) else ""

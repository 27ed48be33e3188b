"""Map the errors of one slice of an array: one character per element, or per group of elements.

0 right    1, 2, 3 small, medium, large error    n nan or infinite where a finite value is expected
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MAX_ROWS, MAX_COLUMNS = 16, 48
MAX_SMALL = 8  # largest number of rows and columns of a slice whose numbers are in the document, too
RIGHT, NOT_FINITE = "0", "n"


def map_errors(
    actual: Array, expected: Array, same: Array, index: Sequence[int], axes: Sequence[str]
) -> dict[str, Any] | None:
    """Return the map of the slice of the last two axes that holds the largest error; None for a single number.

    The values agree where `same` is True; `index` is that of the largest error.

    Returns:
        `rows` (strings), `axes` (names of the vertical and the horizontal axis), `at` (where the slice is), and for a
        small slice `yours` and `expected` (lists of lists of numbers, or of text where JSON has no number).
    """
    if not expected.ndim or expected.size < 2:
        return None
    leading = tuple(index[: max(0, expected.ndim - 2)])
    actual, expected, same = (np.atleast_2d(array[leading]) for array in (actual, expected, same))
    levels = _levels(actual, expected, same)
    # At most MAX_ROWS by MAX_COLUMNS levels: a group of elements has the level of its largest error.
    rows = ["".join(row) for row in _group_rows(_group_rows(levels, MAX_ROWS).T, MAX_COLUMNS).T]
    names = ["", *axes][-2:]
    at = [f"{axis} {i}".strip() for axis, i in zip(axes, leading, strict=False)]
    place = f"[{', '.join(at)}]" if at else ""
    result: dict[str, Any] = {"rows": rows, "axes": names, "at": place, "shape": list(actual.shape)}
    if max(actual.shape) <= MAX_SMALL:
        result["yours"] = [[to_json(value) for value in row] for row in actual]
        result["expected"] = [[to_json(value) for value in row] for row in expected]
    return result


def _levels(actual: Array, expected: Array, same: Array) -> Array:
    if expected.dtype.kind not in "fc":
        return np.where(same, RIGHT, "3")
    with np.errstate(all="ignore"):
        error = np.abs(actual - expected) / max(1e-300, float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)))
    level = np.where(error > 0.1, "3", np.where(error > 1e-3, "2", "1"))
    level = np.where(np.isfinite(actual) | ~np.isfinite(expected), level, NOT_FINITE)
    return np.where(same, RIGHT, level)


def _group_rows(levels: Array, limit: int) -> Array:
    """Merge rows so that there are at most `limit` of them."""
    if len(levels) <= limit:
        return levels
    edges = np.linspace(0, len(levels), limit + 1).astype(int)
    return np.array([[max(column) for column in levels[start:end].T] for start, end in pairwise(edges)])


def to_json(value: Any) -> Any:
    """Return a NumPy scalar as a JSON value; numbers that JSON cannot represent become text."""
    value = value.item()
    is_text = isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value))
    return str(value) if is_text else value

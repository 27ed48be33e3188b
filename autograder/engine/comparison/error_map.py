"""Map the errors of one slice of an array: one character per element, or per group of elements.

0 right    1, 2, 3 small, medium, large error    n nan or infinite where a finite value is expected
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MAX_ROWS, MAX_COLUMNS = 16, 48
MAX_SMALL = 5  # largest number of rows and columns of a slice whose numbers are shown, too
RIGHT, NOT_FINITE = "0", "n"


def map_errors(
    actual: Array, expected: Array, same: Array, index: Sequence[int], axes: Sequence[str]
) -> dict[str, Any] | None:
    """Return the map of the slice of the last two axes that holds the largest error; None for a single number.

    Args:
        actual: the student's values.
        expected: the expected ones, same shape.
        same: where they agree, same shape, boolean.
        index: index of the largest error.
        axes: names of the axes.

    Returns:
        `rows` (strings), `axes` (names of the vertical and the horizontal axis), `at` (where the slice is), and for a
        small slice `yours` and `expected` (lists of lists of numbers, or of text where JSON has no number).
    """
    if not expected.ndim or expected.size < 2:
        return None
    leading = tuple(index[: max(0, expected.ndim - 2)])
    actual, expected, same = (np.atleast_2d(array[leading]) for array in (actual, expected, same))
    levels = _levels(actual, expected, same)
    rows = ["".join(row) for row in _shrink(levels)]
    names = list(axes)[-2:] if expected.ndim >= 2 else ["", *list(axes)[-1:]]
    at = [str(i) if axis.startswith("axis ") else f"{axis} {i}" for axis, i in zip(axes, leading, strict=False)]
    result: dict[str, Any] = {
        "rows": rows,
        "axes": names,
        "at": f"[{', '.join(at)}]" if at else "",
        "shape": list(actual.shape),
    }
    if max(actual.shape) <= MAX_SMALL:
        result["yours"] = [[_number(value) for value in row] for row in actual]
        result["expected"] = [[_number(value) for value in row] for row in expected]
    return result


def _levels(actual: Array, expected: Array, same: Array) -> Array:
    if expected.dtype.kind not in "fc":
        return np.where(same, RIGHT, "3")
    with np.errstate(all="ignore"):
        error = np.abs(actual - expected) / max(1e-300, float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)))
    level = np.where(error > 0.1, "3", np.where(error > 1e-3, "2", "1"))
    level = np.where(np.isfinite(actual) | ~np.isfinite(expected), level, NOT_FINITE)
    return np.where(same, RIGHT, level)


def _shrink(levels: Array) -> Array:
    """Return at most MAX_ROWS by MAX_COLUMNS levels: a group of elements has the level of its largest error."""
    return _group_rows(_group_rows(levels, MAX_ROWS).T, MAX_COLUMNS).T


def _group_rows(levels: Array, limit: int) -> Array:
    """Merge rows so that there are at most `limit` of them."""
    if len(levels) <= limit:
        return levels
    edges = np.linspace(0, len(levels), limit + 1).astype(int)
    groups = [levels[start:end] for start, end in pairwise(edges)]
    return np.array([[max(column) for column in group.T] for group in groups])


def _number(value: Any) -> Any:
    value = value.item()
    return value if isinstance(value, (bool, int)) or np.isfinite(value) else str(value)

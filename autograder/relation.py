"""How a wrong array is related to the right one: facts that hold for every entry, not guesses.

"These are the right values with axes 1 and 2 exchanged", "everything is 2.828 times too large". Silent where no such
relation holds exactly.
"""

import math
from itertools import permutations
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MAX_ENTRIES = 100_000
MAX_AXES = 5
RELATIVE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}


def describe(actual: Array, expected: Array) -> str | None:
    """One sentence about the relation of two arrays that differ, or None.

    Args:
        actual: the student's, any shape and dtype.
        expected: the right one.
    """
    if actual.dtype.kind not in "fiub" or expected.dtype.kind not in "fiub":
        return None
    if not 1 < actual.size == expected.size <= MAX_ENTRIES:
        return _broadcast(actual, expected)
    mine, right = actual.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(mine).all() and np.isfinite(right).all()) or np.ptp(right) == 0:
        return None
    tolerance = RELATIVE.get(actual.dtype, 1e-9)
    return _reordered(mine, right, tolerance) or _scaled(mine, right, tolerance)


def _same(a: Array, b: Array, tolerance: float) -> bool:
    return a.shape == b.shape and bool((np.abs(a - b) <= tolerance * max(1.0, float(np.abs(b).max()))).all())


def _reordered(mine: Array, right: Array, tolerance: float) -> str | None:
    if mine.ndim == right.ndim <= MAX_AXES:
        for order in permutations(range(right.ndim)):
            if list(order) != sorted(order) and _same(mine, right.transpose(order), tolerance):
                return f"these are the right values with {_exchange(order)}"
    for axis in range(right.ndim if mine.shape == right.shape else 0):
        if _same(mine, np.flip(right, axis), tolerance):
            return f"these are the right values in reverse order along axis {axis}"
        for shift in (1, -1):
            if right.shape[axis] > 2 and _same(mine, np.roll(right, shift, axis), tolerance):
                return f"these are the right values, moved by one along axis {axis}"
    if mine.shape != right.shape and _same(mine.reshape(right.shape), right, tolerance):
        return "these are the right values in the right order, in another shape"
    if _same(np.sort(mine, axis=None), np.sort(right, axis=None), tolerance):
        return "these are the right values in other places: some axes were mixed up"
    return None


def _exchange(order: tuple[int, ...]) -> str:
    moved = [axis for axis, place in enumerate(order) if axis != place]
    if len(moved) == 2:
        return f"axes {moved[0]} and {moved[1]} exchanged"
    return f"the axes in the order {order}"


def _scaled(mine: Array, right: Array, tolerance: float) -> str | None:
    if mine.shape != right.shape:
        return None
    if _same(mine, -right, tolerance):
        return "every sign is the wrong way round"
    if not mine.any():
        return "every value is 0"
    offset = float((mine - right).flat[0])
    if abs(offset) > 1e-6 and _same(mine - offset, right, tolerance):
        return f"every value is {abs(offset):.6g} too {'large' if offset > 0 else 'small'}"
    size = np.abs(right)
    at = int(size.argmax())
    factor = float(mine.flat[at] / right.flat[at])
    if factor != 0 and math.isfinite(factor) and _same(mine / factor, right, tolerance):
        return f"every value is {factor:.6g} times what it should be"
    return None


def _broadcast(actual: Array, expected: Array) -> str | None:
    if 1 < actual.size < expected.size <= MAX_ENTRIES and actual.dtype.kind == expected.dtype.kind == "f":
        try:
            spread = np.broadcast_to(actual, expected.shape)
        except ValueError:
            return None
        if _same(spread.astype(np.float64), expected.astype(np.float64), 1e-9):
            return "these are the right values, once instead of for every row: an axis is missing"
    return None

"""Describe how every entry of a wrong array is related to the expected one, such as by swapped axes or a factor."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import permutations
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MAX_ENTRIES = 100_000
MAX_AXES = 5
MAX_FACTOR = 1000  # Larger whole numbers match by chance.
RELATIVE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}


@np.errstate(all="ignore")  # The student's numbers may be of any size.
def describe_relation(actual: Array, expected: Array, axes: Sequence[str] = ()) -> str | None:
    """Return a clause on the relation of two arrays that differ, or None; `axes` names those of the expected one."""
    if actual.dtype.kind not in "fiub" or expected.dtype.kind not in "fiub":
        return None
    if actual.size == expected.size == 1:
        numbers = float(actual.flat[0]), float(expected.flat[0])
        return _relation_of_numbers(*numbers) if expected.dtype.kind == "f" else None
    if not 1 < actual.size == expected.size <= MAX_ENTRIES:
        return _broadcast(actual, expected)
    dtype, tolerance = actual.dtype, RELATIVE.get(actual.dtype, 1e-9)
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(actual).all() and np.isfinite(expected).all()) or np.ptp(expected) == 0:
        return None
    relation = None
    if not _same(actual, expected, tolerance):  # Otherwise any order could match.
        relation = _reordered(actual, expected, tolerance, axes)
        relation = relation or _scaled(actual, expected, tolerance, "False" if dtype.kind == "b" else "0")
    return relation or (_almost_right(actual, expected) if dtype == np.float64 else None)


def _same(a: Array, b: Array, tolerance: float) -> bool:
    return a.shape == b.shape and bool((np.abs(a - b) <= tolerance * max(1.0, float(np.abs(b).max()))).all())


def _reordered(actual: Array, expected: Array, tolerance: float, axes: Sequence[str]) -> str | None:
    if not _same(np.sort(actual, axis=None), np.sort(expected, axis=None), tolerance):
        return None
    # Of few small integers, the same ones may be there by chance.
    is_telling = len(np.unique(expected)) > expected.size / 2
    for words, values, is_simple in _orders(expected, actual.shape, axes):
        if (is_simple or is_telling) and _same(actual, values, tolerance):
            return f"these are the right values {words}"
    if not is_telling:
        return None
    if actual.shape == expected.shape:
        wrong = np.nonzero(np.abs(actual - expected) > tolerance * max(1.0, float(np.abs(expected).max())))
        box = tuple(slice(int(places.min()), int(places.max()) + 1) for places in wrong)
        if actual[box].size < actual.size and (found := _reordered(actual[box], expected[box], tolerance, axes)):
            place = ", ".join(f"{part.start}:{part.stop}" for part in box)
            return f"{found.partition(':')[0]} within [{place}]"
    return "these are the right values in the wrong places" + ": check the order of the axes" * (expected.ndim > 1)


def _orders(values: Array, shape: tuple[int, ...], axes: Sequence[str]) -> Iterator[tuple[str, Array, bool]]:
    """Yield words for an order, the values in it, and whether it is simple; others end in a reshape to the shape."""
    places = range(values.ndim) if values.ndim <= MAX_AXES else ()
    orders = [order for order in permutations(places) if list(order) != sorted(order)]
    yield from ((f"with {_exchange(order, axes)}", values.transpose(order), True) for order in orders)
    for axis, size in enumerate(values.shape):
        along = f"along axis {_axis(axis, axes)}"
        yield f"in reverse order {along}", np.flip(values, axis), True
        for shift in (1, -1) if size > 2 else ():
            yield f"shifted by one {along}", np.roll(values, shift, axis), True
    yield "in the right order, in another shape", values.reshape(shape), True
    for order in orders:
        yield f"read with {_exchange(order, axes)}, then reshaped", values.transpose(order).reshape(shape), False
    for axis, size in enumerate(values.shape if values.ndim < MAX_AXES - 1 else ()):
        for rows in (rows for rows in range(2, size // 2 + 1) if size % rows == 0):
            split = values.reshape(*values.shape[:axis], rows, -1, *values.shape[axis + 1 :])
            text = f"read with axis {_axis(axis, axes)} as {rows} × {size // rows}"
            yield f"{text}, column by column", split.swapaxes(axis, axis + 1).reshape(shape), False
            for order in permutations(range(split.ndim)):
                words = f"{text}, the axes in the order {order}, then reshaped"
                yield words, split.transpose(order).reshape(shape), False


def _axis(axis: int, axes: Sequence[str]) -> str:
    """Return `1 (position)`, or the number alone if the axis has no name."""
    name = axes[axis] if axis < len(axes) else ""
    return f"{axis} ({name})" if name else str(axis)


def _exchange(order: tuple[int, ...], axes: Sequence[str]) -> str:
    moved = [axis for axis, place in enumerate(order) if axis != place]
    if len(moved) == 2:
        return f"axes {_axis(moved[0], axes)} and {_axis(moved[1], axes)} swapped"
    return f"the axes in the order {order}"


def _scaled(actual: Array, expected: Array, tolerance: float, zero: str) -> str | None:
    if actual.shape != expected.shape:
        return None
    if _same(actual, -expected, tolerance):
        return "every sign is reversed"
    if not actual.any():
        return f"every value is {zero}"
    offset = float((actual - expected).flat[0])
    if abs(offset) > 1e-6 and _same(actual - offset, expected, tolerance):
        return f"every value is {abs(offset):.6g} too {'large' if offset > 0 else 'small'}"
    largest = int(np.abs(expected).argmax())
    factor = float(actual.flat[largest] / expected.flat[largest])
    if f"{factor:.6g}" not in ("0", "1") and math.isfinite(factor) and _same(actual / factor, expected, tolerance):
        return f"every value is {_known(factor) or f'{factor:.6g} times'} the expected one"
    return None


def _almost_right(actual: Array, expected: Array) -> str | None:
    """Describe values that are right to five digits or more: the formula is right, a constant in it may not be."""
    if actual.shape != expected.shape:
        return None
    difference, size = np.abs(actual - expected), np.abs(expected)
    counts = difference > 1e-12 * float(size.max())  # Rounding alone leaves no digits to count.
    worst = float((difference[counts] / size[counts]).max(initial=0.0))
    if not 0 < worst <= 0.5e-5:
        return None
    digits = int(-math.log10(2 * worst))
    return f"every value is right to only {digits} digits"


def _relation_of_numbers(actual: float, expected: float) -> str | None:
    """Describe the ratio of two single numbers, if it is a recognizable one."""
    if not (math.isfinite(actual) and math.isfinite(expected)) or expected == 0 or actual == expected:
        return None
    if actual == 0:
        return "it is 0"
    factor = actual / expected
    if math.isclose(factor, -1, rel_tol=1e-9):
        return "the sign is reversed"
    known = _known(abs(factor))
    return f"it is {'minus ' if factor < 0 else ''}{known} the expected value" if known else None


def _known(factor: float) -> str | None:
    """Return a factor in words if it is a whole number, its inverse or root, or the base of a logarithm."""
    if not 1 / (2 * MAX_FACTOR) < factor < 2 * MAX_FACTOR:
        return None  # Beyond this, inverting or squaring it may overflow.
    for value, text in ((1 / math.log(2), "1/log 2 = 1.4427 times"), (1 / math.log(10), "1/log 10 times")):
        if math.isclose(factor, value, rel_tol=1e-9):
            return text
    for base, over in ((factor, ""), (1 / factor, "1/")):
        whole = round(base)
        if 1 < whole <= MAX_FACTOR and math.isclose(base, whole, rel_tol=1e-9):
            return f"{over}{whole}{' of' if over else ' times'}"
        square = round(base * base)
        if 1 < square <= MAX_FACTOR and math.isclose(base * base, square, rel_tol=1e-9):
            return f"{over}√{square} = {factor:.6g} times"
    return None


def _broadcast(actual: Array, expected: Array) -> str | None:
    if 1 < actual.size < expected.size <= MAX_ENTRIES and actual.dtype.kind == expected.dtype.kind == "f":
        with suppress(ValueError):  # The shapes may not fit.
            spread = np.broadcast_to(actual, expected.shape)
            if _same(spread.astype(np.float64), expected.astype(np.float64), 1e-9):
                return "these are the right values for one row only: an axis is missing"
    return None

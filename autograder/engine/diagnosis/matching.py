"""How well two answers are the same: exactly, up to their dtype, in part, or not at all."""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np

from autograder.engine.comparison.compare import TOLERANCES, Tolerance
from autograder.engine.student import Cache

Array = np.ndarray[Any, np.dtype[Any]]

# Two ways to make the same mistake may round differently in float32; the float64 checks tell mistakes apart.
SAME = {**TOLERANCES, np.dtype(np.float32): Tolerance(relative=1e-3, floor=1e-4)}


class Match(IntEnum):
    """How well an answer is the student's."""

    NO = 0
    IN_PART = 1  # of several results, the first that is wrong
    UP_TO_DTYPE = 2
    EXACT = 3


def match_values(student: Any, ours: Any, coarse: bool = False) -> Match:
    """How well two values are the same up to rounding: type, shape, dtype, and nan where the other has nan.

    Args:
        coarse: round as float32 does.
    """
    if isinstance(student, Cache):
        return Match.EXACT
    if isinstance(student, dict) and isinstance(ours, dict):
        if student.keys() != ours.keys():
            return Match.NO
        return min((match_values(student[key], ours[key], coarse) for key in student), default=Match.EXACT)
    if isinstance(student, (tuple, list)) and isinstance(ours, (tuple, list)):
        if len(student) != len(ours):
            return Match.NO
        return min((match_values(a, b, coarse) for a, b in zip(student, ours, strict=True)), default=Match.EXACT)
    if isinstance(student, (np.ndarray, np.generic, float)) and isinstance(ours, (np.ndarray, np.generic, float)):
        return _fit_arrays(np.asarray(student), np.asarray(ours), coarse)
    return Match.EXACT if type(student) is type(ours) and bool(student == ours) else Match.NO


def _fit_arrays(student: Array, ours: Array, coarse: bool) -> Match:
    if student.shape != ours.shape:
        return Match.NO
    same_dtype = student.dtype == ours.dtype
    if same_dtype and student.dtype.kind not in "fc":
        return Match.EXACT if np.array_equal(student, ours) else Match.NO
    if not same_dtype:
        if not {student.dtype.kind, ours.dtype.kind} <= set("fiub"):
            return Match.NO
        coarse = coarse or np.float32 in (student.dtype, ours.dtype)
        student, ours = student.astype(np.float64), ours.astype(np.float64)
    tolerance = SAME[np.dtype(np.float32)] if coarse else SAME.get(ours.dtype, TOLERANCES[np.dtype(np.float64)])
    with np.errstate(all="ignore"):
        near = np.abs(student - ours) <= tolerance.allowed(ours)
    if not (near | (student == ours) | (np.isnan(student) & np.isnan(ours))).all():
        return Match.NO
    return Match.EXACT if same_dtype else Match.UP_TO_DTYPE


def match_in_part(student: Any, ours: Any, right: Any, coarse: bool = False) -> Match:
    """Of several results: whether the first wrong one is ours, and those that are right are right in ours, too.

    Args:
        right: what should have been returned.
    """
    parts = list(_parts(student, ours, right))
    if len(parts) < 2 or None in parts:
        return Match.NO
    found_wrong = False
    for mine, mistaken, correct in filter(None, parts):
        wrong = match_values(mine, correct, coarse) is not Match.EXACT
        if not (wrong and found_wrong) and match_values(mine, mistaken, coarse) is not Match.EXACT:
            return Match.NO
        found_wrong = found_wrong or wrong
    return Match.IN_PART if found_wrong else Match.NO


def has_finite_error(student: Any, right: Any) -> bool:
    """Whether something finite is wrong in a value: many mistakes end in the same nan or infinity."""
    for part in _parts(student, student, right):
        if part is None:
            return True
        mine, _, correct = part
        if not (
            isinstance(mine, (np.ndarray, np.generic, float)) and isinstance(correct, (np.ndarray, np.generic, float))
        ):
            return True
        mine, correct = np.asarray(mine), np.asarray(correct)
        if mine.dtype.kind != "f" or correct.dtype.kind != "f" or mine.shape != correct.shape:
            return True
        with np.errstate(all="ignore"):
            if (np.isfinite(mine) & (np.abs(mine - correct) > SAME[np.dtype(np.float64)].allowed(correct))).any():
                return True
    return False


def nearly_correct(student: Any, right: Any) -> bool:
    """Whether all results are right to two digits: shapes, and numbers up to a hundredth of the largest."""
    for part in _parts(student, student, right):
        if part is None:
            return False
        mine, _, correct = part
        if not isinstance(mine, np.ndarray) or np.shape(mine) != np.shape(correct):
            return False
        with np.errstate(all="ignore"):
            if not (np.abs(mine - correct) <= 0.01 * max(1.0, float(np.abs(correct).max(initial=0.0)))).all():
                return False
    return True


def _parts(student: Any, ours: Any, right: Any) -> Iterator[tuple[Any, Any, Any] | None]:
    """The single results side by side, in the order in which they are compared; None where the forms differ."""
    if isinstance(right, tuple):
        if not (type(student) is type(ours) is tuple and len(student) == len(ours) == len(right)):
            yield None
            return
        for parts in zip(student, ours, right, strict=True):
            yield from _parts(*parts)
    elif isinstance(right, dict):
        if not (type(student) is type(ours) is dict and student.keys() == ours.keys() == right.keys()):
            yield None
            return
        for key in right:
            yield from _parts(student[key], ours[key], right[key])
    else:
        yield student, ours, right


def in_float32(values: Any) -> bool:
    """Whether an array among these values is float32."""
    if isinstance(values, dict):
        return in_float32(list(values.values()))
    if isinstance(values, (tuple, list)):
        return any(map(in_float32, values))
    return getattr(values, "dtype", None) == np.float32

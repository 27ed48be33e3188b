"""Match two answers: exactly, up to their dtype, in part, or not at all."""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np

from autograder.engine.comparison.compare import TOLERANCES, Tolerance
from autograder.engine.student import Cache

Array = np.ndarray[Any, np.dtype[Any]]

# Two ways to make the same mistake may round differently in float32; the float64 checks distinguish mistakes.
TOLERANCES_FOR_MATCHES = {**TOLERANCES, np.dtype(np.float32): Tolerance(relative=1e-3, floor=1e-4)}


_NUMERIC = (np.ndarray, np.generic, float)


class Match(IntEnum):
    """How well an answer matches the student's."""

    NO = 0
    IN_PART = 1  # the first wrong one of several results
    UP_TO_DTYPE = 2
    EXACT = 3


def match_values(student: Any, candidate: Any, coarse: bool = False) -> Match:
    """Return how well two values match up to rounding, or that of float32 if `coarse`; nan matches nan."""
    if isinstance(student, Cache):
        return Match.EXACT
    if isinstance(student, dict) and isinstance(candidate, dict):
        if student.keys() != candidate.keys():
            return Match.NO
        return min((match_values(student[key], candidate[key], coarse) for key in student), default=Match.EXACT)
    if isinstance(student, (tuple, list)) and isinstance(candidate, (tuple, list)):
        if len(student) != len(candidate):
            return Match.NO
        return min((match_values(a, b, coarse) for a, b in zip(student, candidate, strict=True)), default=Match.EXACT)
    if isinstance(student, _NUMERIC) and isinstance(candidate, _NUMERIC):
        return _match_arrays(np.asarray(student), np.asarray(candidate), coarse)
    return Match.EXACT if type(student) is type(candidate) and bool(student == candidate) else Match.NO


def _match_arrays(student: Array, candidate: Array, coarse: bool) -> Match:
    if student.shape != candidate.shape:
        return Match.NO
    same_dtype = student.dtype == candidate.dtype
    if same_dtype and student.dtype.kind not in "fc":
        return Match.EXACT if np.array_equal(student, candidate) else Match.NO
    if not same_dtype:
        if not {student.dtype.kind, candidate.dtype.kind} <= set("fiub"):
            return Match.NO
        coarse = coarse or np.float32 in (student.dtype, candidate.dtype)
        student, candidate = student.astype(np.float64), candidate.astype(np.float64)
    dtype = np.dtype(np.float32) if coarse else candidate.dtype
    tolerance = TOLERANCES_FOR_MATCHES.get(dtype, TOLERANCES[np.dtype(np.float64)])
    with np.errstate(all="ignore"):
        near = np.abs(student - candidate) <= tolerance.allowed(candidate)
    if not (near | (student == candidate) | (np.isnan(student) & np.isnan(candidate))).all():
        return Match.NO
    return Match.EXACT if same_dtype else Match.UP_TO_DTYPE


def match_in_part(student: Any, candidate: Any, right: Any, coarse: bool = False) -> Match:
    """Return whether, of several results, the first wrong one matches and the correct ones are correct in both."""
    parts = list(_parts(student, candidate, right))
    if len(parts) < 2 or None in parts:
        return Match.NO
    found_wrong = False
    for actual, mistaken, expected in filter(None, parts):
        wrong = match_values(actual, expected, coarse) is not Match.EXACT
        if not (wrong and found_wrong) and match_values(actual, mistaken, coarse) is not Match.EXACT:
            return Match.NO
        found_wrong = found_wrong or wrong
    return Match.IN_PART if found_wrong else Match.NO


def has_finite_error(student: Any, right: Any) -> bool:
    """Return whether something finite is wrong in a value: many mistakes end in the same nan or infinity."""
    for part in _parts(student, student, right):
        if part is None or not (isinstance(part[0], _NUMERIC) and isinstance(part[2], _NUMERIC)):
            return True
        actual, expected = np.asarray(part[0]), np.asarray(part[2])
        if actual.dtype.kind != "f" or expected.dtype.kind != "f" or actual.shape != expected.shape:
            return True
        with np.errstate(all="ignore"):
            wrong = np.abs(actual - expected) > TOLERANCES[np.dtype(np.float64)].allowed(expected)
        if (np.isfinite(actual) & wrong).any():
            return True
    return False


def nearly_correct(student: Any, right: Any) -> bool:
    """Return whether all results have the right shape and are correct to a hundredth of the largest number."""
    for part in _parts(student, student, right):
        if part is None or not isinstance(part[0], np.ndarray) or part[0].shape != np.shape(part[2]):
            return False
        actual, _, expected = part
        with np.errstate(all="ignore"):
            if not (np.abs(actual - expected) <= 0.01 * max(1.0, float(np.abs(expected).max(initial=0.0)))).all():
                return False
    return True


def _parts(student: Any, candidate: Any, right: Any) -> Iterator[tuple[Any, Any, Any] | None]:
    """Yield the single results side by side, in the order in which they are compared; None where the forms differ."""
    if isinstance(right, tuple):
        if not (type(student) is type(candidate) is tuple and len(student) == len(candidate) == len(right)):
            yield None
            return
        for parts in zip(student, candidate, right, strict=True):
            yield from _parts(*parts)
    elif isinstance(right, dict):
        if not (type(student) is type(candidate) is dict and student.keys() == candidate.keys() == right.keys()):
            yield None
            return
        for key in right:
            yield from _parts(student[key], candidate[key], right[key])
    else:
        yield student, candidate, right


def in_float32(values: Any) -> bool:
    """Return whether an array among these values is float32."""
    if isinstance(values, dict):
        return in_float32(list(values.values()))
    if isinstance(values, (tuple, list)):
        return any(map(in_float32, values))
    return getattr(values, "dtype", None) == np.float32

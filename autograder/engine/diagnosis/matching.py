"""Match two answers, or those to one call: exactly, up to their dtype, in part, or not at all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from autograder.engine.comparison.compare import TOLERANCES, Tolerance
from autograder.engine.diagnosis.replay import Answer, same_exception, same_modified
from autograder.engine.student import UNANSWERED, Cache, Call

Array = np.ndarray[Any, np.dtype[Any]]

# Two ways to make the same mistake may round differently in float32; the float64 checks distinguish mistakes.
TOLERANCES_FOR_MATCHES = {**TOLERANCES, np.dtype(np.float32): Tolerance(relative=1e-3, floor=1e-4)}
MIN_DISTINCTIVE = 4
WEIGHT_OF_INTEGERS = 1 / 3  # They are often small: wrong ones may agree by chance.
DISTINCT_ERROR = 10  # times the tolerance
_NUMERIC = (np.ndarray, np.generic, float)


class Match(IntEnum):
    """How well an answer matches the student's."""

    NO = 0
    IN_PART = 1  # some of several wrong results
    UP_TO_DTYPE = 2
    EXACT = 3


def match_values(student: Any, candidate: Any, coarse: bool = False) -> Match:
    """Return how well two values match up to rounding, or that of float32 if `coarse`; nan matches nan."""
    if isinstance(student, Cache):
        return Match.EXACT
    if isinstance(student, dict) and isinstance(candidate, dict):
        if student.keys() != candidate.keys():
            return Match.NO
        return worst_match(match_values(student[key], candidate[key], coarse) for key in student)
    if isinstance(student, (tuple, list)) and isinstance(candidate, (tuple, list)):
        if len(student) != len(candidate) or type(student) is not type(candidate):
            return Match.NO
        return worst_match(match_values(a, b, coarse) for a, b in zip(student, candidate, strict=True))
    if isinstance(student, _NUMERIC) and isinstance(candidate, _NUMERIC):
        return _match_arrays(np.asarray(student), np.asarray(candidate), coarse)
    return Match.EXACT if type(student) is type(candidate) and bool(student == candidate) else Match.NO


def worst_match(matches: Iterable[Match]) -> Match:
    """Return the worst of some matches, without looking at those after one that is none."""
    worst = Match.EXACT
    for match in matches:
        if match is Match.NO:
            return match
        worst = min(worst, match)
    return worst


def _match_arrays(student: Array, candidate: Array, coarse: bool) -> Match:
    if student.shape != candidate.shape:
        return Match.NO
    same_dtype = student.dtype == candidate.dtype
    is_equal = student == candidate
    if same_dtype and (student.dtype.kind not in "fc" or is_equal.all()):
        return Match.EXACT if is_equal.all() else Match.NO
    if not same_dtype:
        if not {student.dtype.kind, candidate.dtype.kind} <= set("fiub"):
            return Match.NO
        coarse = coarse or np.float32 in (student.dtype, candidate.dtype)
        student, candidate = student.astype(np.float64), candidate.astype(np.float64)
    dtype = np.dtype(np.float32) if coarse else candidate.dtype
    tolerance = TOLERANCES_FOR_MATCHES.get(dtype, TOLERANCES[np.dtype(np.float64)])
    with np.errstate(all="ignore"):
        difference = np.abs(student - candidate)
        near = difference <= tolerance.allowed(candidate)
    if not near.all():
        undefined = np.isnan(difference)  # nan matches nan, and an infinity itself.
        if not undefined.any() or not (near | is_equal | (np.isnan(student) & np.isnan(candidate))).all():
            return Match.NO
    return Match.EXACT if same_dtype else Match.UP_TO_DTYPE


@dataclass(frozen=True)
class Part:
    """One stage or result of a check's last call, side by side."""

    name: str
    student: Any
    candidate: Any
    right: Any


@dataclass(frozen=True)
class Outcome:
    """How the answers of a candidate match the student's in one check."""

    match: Match
    contradicts: bool = False  # It is wrong where the student is right.
    explained: tuple[str, ...] = ()  # wrong results that match, if only some of them do
    remaining: tuple[str, ...] = ()  # the other wrong results
    affects_remaining: bool = False  # It makes some of these wrong, too, in another way.


NOT_COMPARABLE = Outcome(Match.NO, contradicts=True)


def match_parts(parts: Sequence[Part], coarse: bool, right_parts: dict[tuple[str, int], bool]) -> Outcome:
    """Return which of the student's wrong results a candidate explains exactly; there is one that it does not.

    If it changes other wrong results in another way, it must explain the first wrong one: a second mistake after it
    can change the later ones, but not the first. Entries of one dict have no such order: code that computes all of them
    alike is not explained by what happens to fit one of them.

    `right_parts` remembers which of the student's results are right.
    """
    explained, remaining, affected = [], [], []
    for part in parts:
        key = (part.name, id(part.student))
        if key not in right_parts:
            right_parts[key] = match_values(part.student, part.right, coarse) is Match.EXACT
        is_right = right_parts[key]
        if match_values(part.student, part.candidate, coarse) is Match.EXACT:
            if not is_right:
                explained.append(part.name)
        elif is_right:
            return NOT_COMPARABLE
        else:
            if match_values(part.candidate, part.right, coarse) is not Match.EXACT:
                affected.append(part.name)
            remaining.append(part.name)
    wrong = [part.name for part in parts if part.name in {*explained, *remaining}]
    if not explained or (affected and explained[0] != wrong[0]):
        return Outcome(Match.NO, explained=tuple(explained))
    if {_dict_of(name) for name in explained} & {_dict_of(name) for name in affected} - {""}:
        return Outcome(Match.NO)
    return Outcome(Match.IN_PART, False, tuple(explained), tuple(remaining), bool(affected))


def _dict_of(name: str) -> str:
    """Return the name of the dict to which a result belongs; "" if to none."""
    return name.rpartition("[")[0]


def results(name: str, student: Any, candidate: Any, right: Any, names: Sequence[str] = ()) -> list[Part] | None:
    """Return the single results side by side, in the order in which they are compared; None where the forms differ.

    Results of a tuple are named by `names`, entries of a dict by their key, arrays in a list by their index.
    """
    found: list[Part] = []
    if isinstance(student, Cache):
        return found
    if isinstance(right, dict):
        if not (type(student) is type(candidate) is dict and student.keys() == candidate.keys() == right.keys()):
            return None
        children = [(f"{name}[{key!r}]", student[key], candidate[key], right[key]) for key in right]
    elif isinstance(right, tuple) or (isinstance(right, list) and any(isinstance(item, np.ndarray) for item in right)):
        kind = tuple if isinstance(right, tuple) else list
        if not (type(student) is type(candidate) is kind and len(student) == len(candidate) == len(right)):
            return None
        is_named = kind is tuple and len(names) >= len(right)
        labels = names[: len(right)] if is_named else [f"{name}[{i}]" for i in range(len(right))]
        children = list(zip(labels, student, candidate, right, strict=True))
    else:
        return [Part(name, student, candidate, right)]
    for label, *parts in children:
        inner = results(label, *parts)
        if inner is None:
            return None
        found += inner
    return found


def is_distinctive(student: Any, right: Any, coarse: bool = False) -> bool:
    """Return whether a wrong value cannot be matched by chance: it has at least four different finite numbers.

    If comparisons are `coarse`, the errors must be much larger than what they allow.
    """
    return count_wrong(student, right, coarse) >= MIN_DISTINCTIVE


def count_wrong(student: Any, right: Any, coarse: bool = False, weight_of_integers: float = 0) -> float:
    """Return how many different finite floats or texts are wrong in a value, or integers, times their weight."""
    if isinstance(student, list) and isinstance(right, list):
        pairs = zip(student, right, strict=False)
        return len({repr(a) for a, b in pairs if type(a) in (str, tuple) and repr(a) != repr(b)})
    if not (isinstance(student, _NUMERIC) and isinstance(right, _NUMERIC)):
        return 0
    actual, expected = np.asarray(student), np.asarray(right)
    if actual.dtype.kind == expected.dtype.kind == "i" and actual.shape == expected.shape:
        return weight_of_integers * int((actual != expected).sum())
    if actual.dtype.kind != "f" or expected.dtype.kind != "f":
        return 0
    wrong = np.isfinite(actual)
    if actual.shape == expected.shape:
        with np.errstate(all="ignore"):
            allowed = TOLERANCES_FOR_MATCHES[np.dtype(np.float32 if coarse else np.float64)].allowed(expected)
            wrong &= np.abs(actual - expected) > DISTINCT_ERROR * allowed
    return len(np.unique(actual[wrong]))


def has_finite_error(student: Any, right: Any) -> bool:
    """Return whether something finite is wrong in a value: many mistakes end in the same nan or infinity."""
    parts = results("", student, student, right) or [Part("", None, None, None)]
    floats = [part for part in parts if _is_float(part.student) and _is_float(part.right)]
    return len(floats) < len(parts) or any(count_wrong(part.student, part.right) > 0 for part in floats)


def _is_float(value: Any) -> bool:
    return isinstance(value, _NUMERIC) and np.asarray(value).dtype.kind == "f"


def nearly_correct(student: Any, right: Any) -> bool:
    """Return whether all results have the right shape and are correct to a hundredth of the largest number."""
    for part in results("", student, student, right) or [Part("", None, None, None)]:
        actual, expected = part.student, part.right
        if not isinstance(actual, np.ndarray) or actual.shape != np.shape(expected):
            return False
        with np.errstate(all="ignore"):
            if not (np.abs(actual - expected) <= 0.01 * max(1.0, float(np.abs(expected).max(initial=0.0)))).all():
                return False
    return True


def has_different_sizes(call: Call) -> bool:
    """Return whether no array argument has two axes of one size, or an axis of size 1: then axes cannot be confused."""
    shapes = [value.shape for value in (*call.args, *call.kwargs.values()) if isinstance(value, np.ndarray)]
    return all(len(set(shape)) == len(shape) and min(shape, default=2) > 1 for shape in shapes)


def parts_of(call: Call, answer: Answer, right: Answer) -> list[Part] | None:
    """Return the stages and results of a call, in the order in which they are computed; None if the forms differ."""
    stages = []
    caches = [value[-1] if isinstance(value, tuple) and value else value for value in (answer.value, right.value)]
    for name, value in {**call.entries, **call.stages}.items():
        if value is not UNANSWERED and all(isinstance(cache, dict) and name in cache for cache in caches):
            stages.append(Part(name, value, caches[0][name], caches[1][name]))
    names = [output.name for output in call.function.outputs]
    found = results(names[0] if names else "", call.value, answer.value, right.value, names)
    return None if found is None else [*stages, *found]


def match_answer(call: Call, answer: Answer, passed: bool, package: str, official: Answer | None = None) -> Match:
    """Return how well a candidate's answer matches the student's as a whole; for `official` see `same_exception`."""
    if call.exception is not None or answer.exception is not None:
        return Match.EXACT if same_exception(call, answer.exception, package, official) else Match.NO
    if not same_modified(call, answer, package) and not (passed and call.modified):  # Another check tests for it.
        return Match.NO
    coarse = is_coarse(call)
    match = match_values(call.value, answer.value, coarse)
    return match if match is Match.NO else min(match, _match_entries(call, answer, coarse))


def is_coarse(call: Call) -> bool:
    """Return whether comparisons are coarse: what is computed with a float32 may differ as much as one."""
    return _in_float32((*call.args, call.kwargs))


def _in_float32(values: Any) -> bool:
    """Return whether an array among these values is float32."""
    if isinstance(values, dict):
        return _in_float32(list(values.values()))
    if isinstance(values, (tuple, list)):
        return any(map(_in_float32, values))
    return getattr(values, "dtype", None) == np.float32


def _match_entries(call: Call, answer: Answer, coarse: bool) -> Match:
    """Return how well the cache entries that a check read match."""
    if not call.entries:
        return Match.EXACT
    cache = answer.value[-1] if isinstance(answer.value, tuple) else answer.value
    if not isinstance(cache, dict):
        return Match.NO
    return worst_match(
        match_values(value, cache[name], coarse) if name in cache else Match.EXACT if value is UNANSWERED else Match.NO
        for name, value in call.entries.items()
    )

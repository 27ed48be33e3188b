"""Recognize a function that is not written yet: whatever it gets, it returns the same, or what it got."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from autograder.engine.diagnosis.explanation import Diagnosis
from autograder.engine.diagnosis.mistake import Mistake
from autograder.engine.diagnosis.replay import correct_answer
from autograder.engine.diagnosis.variants import parameter_names
from autograder.engine.student import UNANSWERED, Call, RecordedCheck

_CONSTANTS = (bool, int, float, str)


def diagnose_placeholder(function: str, checks: Iterable[RecordedCheck], package: str) -> Diagnosis | None:
    """Return that all calls of a function return the same or an unchanged argument, although they should not.

    `checks` are all that made a call, passed ones included.
    """
    checks = [check for check in checks if check.calls[-1].function.qualified == function]
    calls = [check.calls[-1] for check in checks]
    if not calls or any(call.value is UNANSWERED for call in calls):
        return None
    rights = [correct_answer(check, package).value for check in checks]
    for name, title in _descriptions(calls, rights, parameter_names(function, package)):
        mistake = Mistake(
            function,
            f"placeholder-{name}",
            f"the function always returns {title}",
            "A function that is not finished often ends like this.",
            "Which line of the formula in the docstring can you write first?",
            generated=True,
        )
        return Diagnosis((mistake,), proof="it did so in every check")
    return None


def _descriptions(calls: list[Call], rights: list[Any], parameters: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield what all answers have in common and the correct ones do not: a name, and words."""
    values = [call.value for call in calls]
    if all(value is None for value in values) and any(right is not None for right in rights):
        yield "none", "None: is a return statement missing?"
    if _are_one_constant(values) and not _are_one_constant(rights):
        yield "constant", f"{values[0]!r:.40}"
    if all(map(_is_zero, values)) and not all(map(_is_zero, rights)):
        yield "zeros", "zeros"
    if len(values) > 1:
        for index, parameter in enumerate(parameters):
            given = [call.args[index] if index < len(call.args) else call.kwargs.get(parameter) for call in calls]
            if all(map(_is_same, values, given)) and not all(map(_is_same, rights, given)):
                yield "argument", f"{parameter}, unchanged"


def _are_one_constant(values: list[Any]) -> bool:
    may_be = len(values) > 1 and isinstance(values[0], _CONSTANTS)
    return may_be and all(_is_same(first, second) for first, second in pairwise(values))


def _is_zero(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and value.dtype.kind in "fiu" and not value.any()


def _is_same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return first.shape == second.shape and np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_is_same(first[key], second[key]) for key in first)
    is_plain = isinstance(first, (*_CONSTANTS, list)) and not isinstance(second, np.ndarray)
    return is_plain and type(first) is type(second) and bool(first == second)

"""Find the free constant of a family of mistakes from the student's answer."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from autograder.engine.diagnosis.matching import Match
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake
from autograder.engine.diagnosis.replay import remember_cache, run
from autograder.engine.diagnosis.search import Search, parts_of
from autograder.engine.diagnosis.variants import FamilyModule, solution_module

Array = np.ndarray[Any, np.dtype[Any]]

_DECADES = range(-12, 13)
_COMMON = (0.25, 0.3, 0.75, 0.7, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999, 1.5, math.e, math.pi, math.log(2), math.sqrt(2))
_POSITIVE = sorted({float(f"{digit}e{decade}") for digit in (1, 2, 3, 5) for decade in _DECADES} | set(_COMMON))
GRID = (*(-value for value in reversed(_POSITIVE)), 0.0, *_POSITIVE)
INTEGERS = (*range(-10, 0), *range(11), 16, 32, 50, 64, 100, 128, 256, 512, 1000, 1024, 10_000)
MAX_CHECKS = 3  # failed checks of each family that are searched, the fastest first
MAX_ROOTS = 6
BISECTIONS = 60
MAX_DIGITS = 3  # of a number that counts as round
CLOSE = 1e-3  # Relative difference of constants that count as one.


def find_constants(families: Iterable[Mistake], search: Search) -> dict[Mistake, float]:
    """Return the families whose constant could be found, as mistakes with this constant, which is the value."""
    found = {}
    for family in families:
        if search.is_out_of_time:
            break
        try:
            module = FamilyModule(family, search.package, search.module)
        except BrokenMistake:
            continue
        if values := _find_values(family, module, search):
            value = min(values, key=_roundness)
            is_determined = max(values) - min(values) <= CLOSE * abs(value)
            text = f"{value:.6g}" if is_determined else f"a number such as {value:.6g}"
            found[family.with_constant(int(value) if isinstance(family.constant, int) else value, text)] = value
    return found


def _find_values(family: Mistake, module: FamilyModule, search: Search) -> list[float]:
    """Return the constants that explain the most failed checks, among those that explain one of the first."""
    best: tuple[int, list[float]] = (0, [])
    for index in search.failed[:MAX_CHECKS]:
        candidates = _candidates(family, module, search, index)
        values = [value for value in candidates if _explains(module, value, search, index)]
        for other in search.failed:  # The checks that it explains, one after the other, narrow the values down.
            if len(values) > 1:
                values = [value for value in values if _explains(module, value, search, other)] or values
        if values:
            count = sum(_explains(module, values[0], search, other) for other in search.failed)
            best = max(best, (count, values), key=lambda entry: entry[0])
            if count == len(search.failed):
                break
    return best[1]


def _explains(module: FamilyModule, value: float, search: Search, index: int) -> bool:
    return search.outcome_of_module(module.with_constant(value), index).match is not Match.NO


def _candidates(family: Mistake, module: FamilyModule, search: Search, index: int) -> Iterator[float]:
    """Yield constants that may explain a check: those of the grid, then roots between neighbours on it."""
    for value in INTEGERS if isinstance(family.constant, int) else GRID:
        if search.is_out_of_time:
            return
        yield value
    if isinstance(family.constant, int):
        return
    for error in _error_functions(module, search, index):
        errors = [error(value) for value in GRID if not search.is_out_of_time]
        neighbours = zip(GRID, GRID[1:], errors, errors[1:], strict=False)
        changes = [neighbour for neighbour in neighbours if neighbour[2] * neighbour[3] < 0]
        for low, high, error_low, _ in changes[:MAX_ROOTS]:
            if search.is_out_of_time:
                return
            yield from _rounded(_bisect(error, low, high, error_low))


def _error_functions(module: FamilyModule, search: Search, index: int) -> Iterator[Callable[[float], float]]:
    """Yield the difference between the student's number and the candidate's, by constant, for some wrong numbers."""
    call, right = search.checks[index].calls[-1], search.correct_answer(index)
    if call.exception is not None or (parts := parts_of(call, right, right)) is None:
        return
    for position, part in enumerate(parts):
        if not all(isinstance(value, (np.ndarray, float, np.floating)) for value in (part.student, part.right)):
            continue
        student, expected = np.asarray(part.student), np.asarray(part.right)
        if student.shape != expected.shape or student.dtype.kind != "f" or not student.size:
            continue
        difference = np.abs(student - expected)
        wrong = np.flatnonzero(np.isfinite(difference) & (difference > 0))
        if wrong.size:
            order = wrong[np.argsort(difference.flat[wrong])]
            # The largest error determines the constant best; a small one belongs to a smoother function of it.
            for entry in dict.fromkeys((int(order[-1]), int(order[len(order) // 4]))):
                yield partial(_error, module, search, index, position, entry)
            return


def _error(module: FamilyModule, search: Search, index: int, position: int, entry: int, value: float) -> float:
    variant = module.with_constant(value)
    check = search.checks[index]
    caches: dict[int, Any] = {}
    for call in check.calls:
        own = call.function.module == search.module
        answer = run(
            variant if own else solution_module(call.function.module, search.package), call, caches, search.package
        )
        remember_cache(call.value, answer.value, caches)
    parts = parts_of(check.calls[-1], answer, search.correct_answer(index)) if answer.exception is None else None
    if parts is None or position >= len(parts):
        return math.nan
    part = parts[position]
    candidate, student = np.asarray(part.candidate), np.asarray(part.student)
    if candidate.shape != student.shape or candidate.dtype.kind != "f":
        return math.nan
    return float(candidate.flat[entry]) - float(student.flat[entry])


def _bisect(error: Callable[[float], float], low: float, high: float, error_low: float) -> float:
    for _ in range(BISECTIONS):
        # Between numbers of one sign, the geometric mean: constants may differ by orders of magnitude.
        middle = math.copysign(math.sqrt(low * high), low) if low * high > 0 else (low + high) / 2
        if not low < middle < high:
            break
        error_middle = error(middle)
        if error_middle == 0:
            return middle
        if (error_middle < 0) == (error_low < 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _rounded(value: float) -> Iterator[float]:
    """Yield the value rounded to more and more digits: the roundest that matches is what was written."""
    seen = set()
    for digits in (1, 2, 3, 4, 6, 9):
        rounded = float(f"{value:.{digits - 1}e}")
        if rounded not in seen and abs(rounded - value) <= 1e-2 * abs(value):
            seen.add(rounded)
            yield rounded
    yield value


def is_round(value: float, digits: int = MAX_DIGITS) -> bool:
    """Return whether somebody may have written this number: it has at most so many digits."""
    return _roundness(value)[0] <= digits


def _roundness(value: float) -> tuple[int, int, float]:
    """Return a key that sorts round numbers first, then those near 1."""
    digits = len(f"{value:.12e}".partition("e")[0].strip("-0").replace(".", "").rstrip("0"))
    return digits, f"{value:e}"[0 if value > 0 else 1] != "1", abs(math.log10(abs(value))) if value else 0.0

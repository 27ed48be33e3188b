"""Find the free constant of a family of mistakes from the student's answer."""

import math
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from autograder.engine.diagnosis.matching import Match, parts_of
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake
from autograder.engine.diagnosis.replay import Answer, replay
from autograder.engine.diagnosis.search import Search
from autograder.engine.diagnosis.variants import FamilyModule
from autograder.engine.student import Call

Array = np.ndarray[Any, np.dtype[Any]]

_DECADES = range(-12, 13)
_POSITIVE = sorted({float(f"1e{decade}") for decade in _DECADES} | {0.25, 0.5, 0.9, 1.5, 2.0, 3.0, 5.0})
GRID = (*(-value for value in reversed(_POSITIVE)), 0.0, *_POSITIVE)
INTEGERS = (*range(-10, 0), *range(11), 16, 32, 50, 64, 100, 128, 256, 512, 1000, 1024, 10_000)
LARGEST_SIZE = 64  # An argument may be the size of an array, or of each of two loops.
MAX_CHECKS = 3  # failed checks of each family that are searched, the fastest first
MAX_ROOTS = 6
BISECTIONS = 60
TRIAL_BISECTIONS = 6  # after which all errors must be smaller
MAX_DIGITS = 3  # of a number that counts as round
CLOSE = 1e-3  # Relative difference of constants that count as one.


def find_constants(mistakes: Iterable[Mistake], search: Search) -> dict[Mistake, float]:
    """Return the families whose constant could be found, as mistakes with this constant, which is the value."""
    found = {}
    for family in (mistake for mistake in mistakes if mistake.constant is not None):
        if search.is_out_of_time:
            break
        try:
            module = FamilyModule(family, search.compared.package, search.compared.module)
        except BrokenMistake:
            continue
        values = _find_values(family, module, search)
        if search.is_out_of_time:  # Then others were not tried, which might explain as much.
            break
        # Next to the right constant, a tiny one of the other sign is no number that was written, but rounding.
        values = [value for value in values if value >= 0 or -value > CLOSE * (family.constant or 0)]
        if values:
            value = min(values, key=_roundness)
            is_determined = max(values) - min(values) <= CLOSE * abs(value)
            text = f"{value:.6g}" if is_determined else f"a number such as {value:.6g}"
            found[family.with_constant(int(value) if isinstance(family.constant, int) else value, text)] = value
    return found


def _find_values(family: Mistake, module: FamilyModule, search: Search) -> list[float]:
    """Return the constants that explain the most failed checks, among those that explain one of the first."""
    best: tuple[int, list[float]] = (0, [])
    # Where only a dtype or a type is wrong, any constant without an effect would explain the numbers.
    failed = [index for index in search.compared.failed if search.compared.outcome((), index).match is Match.NO]
    check_at = cache(partial(_FamilyCheck, module, search))
    # The more numbers an answer has, the more constants fit one of them. Speed alone would let chance decide.
    for index in sorted(failed[:MAX_CHECKS], key=lambda index: _count(search.compared.last_call(index).value)):
        check = check_at(index)
        values = [value for value in _candidates(family, check) if check.explains(value)]
        for other in failed:  # The checks that it explains, one after the other, narrow the values down.
            if len(values) > 1:
                values = [value for value in values if check_at(other).explains(value)] or values
        if values:
            count = sum(check_at(other).explains(values[0]) for other in failed)
            best = max(best, (count, values), key=lambda entry: entry[0])
            if count == len(failed):
                break
        elif check.depends_on_constant:
            break
    return best[1]


def _count(value: Any) -> int:
    """Return how many numbers an answer has."""
    if isinstance(value, (list, tuple)):
        return sum(map(_count, value))
    return value.size if isinstance(value, np.ndarray) else 1


class _FamilyCheck:
    """A failed check, and the answers that a family gives in it; each constant is tried once."""

    def __init__(self, module: FamilyModule, search: Search, index: int) -> None:
        self.search, self._module, self._index = search, module, index
        self._answers: dict[float, list[tuple[Call, Answer]]] = {}
        self._position, self._wrong = _first_wrong_numbers(search, index)

    def answers(self, value: float) -> list[tuple[Call, Answer]]:
        """Return the calls of the check with the answers of this member."""
        if value not in self._answers:
            check, module = self.search.compared.checks[self._index], self._module.with_constant(value)
            self._answers[value] = list(replay(check, module, self.search.compared.package))
        return self._answers[value]

    @property
    def depends_on_constant(self) -> bool:
        """Return whether the numbers of the members that were tried differ."""
        errors = [self.errors(value) for value in self._answers]
        return any(not np.array_equal(error, errors[0], equal_nan=True) for error in errors)

    def explains(self, value: float) -> bool:
        """Return whether this member gives the student's answer, or a part of it."""
        return self.search.compared.outcome_of_answers(self.answers(value), self._index).match is not Match.NO

    def errors(self, value: float) -> Array:
        """Return the member's numbers minus the student's where these are wrong, the smallest error first.

        They are those of the first wrong result; there are none if the student or the member has no such numbers.
        """
        call, answer = self.answers(value)[-1]
        if not self._wrong.size or answer.exception is not None:
            return np.empty(0)
        parts = parts_of(call, answer, self.search.compared.correct_answer(self._index))
        if parts is None or self._position >= len(parts):
            return np.empty(0)
        part = parts[self._position]
        candidate, student = np.asarray(part.candidate), np.asarray(part.student)
        if candidate.shape != student.shape or candidate.dtype.kind != "f":
            return np.empty(0)
        return np.asarray(candidate.flat[self._wrong] - student.flat[self._wrong], np.float64)


def _first_wrong_numbers(search: Search, index: int) -> tuple[int, Array]:
    """Return which part of a check is the first with wrong numbers, and where they are, the smallest error first."""
    call, right = search.compared.last_call(index), search.compared.correct_answer(index)
    parts = None if call.exception is not None else parts_of(call, right, right)
    for position, part in enumerate(parts or ()):
        if not all(isinstance(value, (np.ndarray, float, np.floating)) for value in (part.student, part.right)):
            continue
        student, expected = np.asarray(part.student), np.asarray(part.right)
        if student.shape != expected.shape or student.dtype.kind != "f" or not student.size:
            continue
        with np.errstate(all="ignore"):
            difference = np.abs(student - expected)
        wrong = np.flatnonzero(np.isfinite(difference) & (difference > 0))
        if wrong.size:
            return position, wrong[np.argsort(difference.flat[wrong])]
    return 0, np.empty(0, np.intp)


def _candidates(family: Mistake, check: _FamilyCheck) -> Iterator[float]:
    """Yield constants that may explain a check: those of the grid, then roots between neighbors on it."""
    grid: tuple[float, ...] = GRID
    if isinstance(family.constant, int):
        largest = max(LARGEST_SIZE, family.constant) if family.generated else INTEGERS[-1]
        grid = tuple(value for value in INTEGERS if abs(value) <= largest)
    yield from (probes := (grid[0], grid[len(grid) // 2], grid[-1], family.constant or 0))
    has_no_effect = all(check.errors(value).size for value in probes) and not check.depends_on_constant
    if has_no_effect and not check.explains(grid[0]):
        return
    for value in grid:
        if check.search.is_out_of_time:
            return
        if value not in probes:
            yield value
    if isinstance(family.constant, int):
        return
    errors = [check.errors(value) for value in grid]
    size = max((error.size for error in errors), default=0)
    # The largest error determines the constant best; a small one belongs to a smoother function of it.
    for entry in dict.fromkeys((size - 1, size // 4)) if size else ():
        column = [float(error[entry]) if error.size == size else math.nan for error in errors]
        neighbors = zip(grid, grid[1:], column, column[1:], strict=False)
        changes = [(low, high, start) for low, high, start, end in neighbors if start * end < 0]
        for low, high, error_low in changes[:MAX_ROOTS]:
            if (root := _find_root(check, entry, low, high, error_low)) is not None:
                yield from _rounded(root)


def _find_root(check: _FamilyCheck, entry: int, low: float, high: float, error_low: float) -> float | None:
    """Return where the error of one entry is 0; None if the other errors do not vanish with it, or the time is up."""
    sizes = [float(np.abs(check.errors(value)).max(initial=0)) for value in (low, high)]
    for step in range(BISECTIONS):
        # Between numbers of one sign, the geometric mean: constants may differ by orders of magnitude.
        middle = math.copysign(math.sqrt(low * high), low) if low * high > 0 else (low + high) / 2
        if not low < middle < high:
            break
        errors = check.errors(middle)
        if check.search.is_out_of_time or entry >= errors.size:
            return None
        if errors[entry] == 0:
            return middle
        if step == TRIAL_BISECTIONS and not np.abs(errors).max() < max(sizes) / 4:
            return None
        low, high = (middle, high) if (errors[entry] < 0) == (error_low < 0) else (low, middle)
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

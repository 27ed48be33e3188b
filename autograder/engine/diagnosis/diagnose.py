"""Name the mistake: run known wrong implementations on the same inputs, find the one whose answers are the student's.

A mistake that gives the student's answer in every failing check of the function *and* in every passing one is not a
guess. Where no mistake, and no pair of them, explains everything, something else is wrong beside it: then each failing
check is named by itself, if a mistake gives exactly its answer and contradicts no check that passes. A wrong dtype on
top of a mistake does not hide it. Where two give the same answers, both are named. Where none does, silence.
"""

import copy
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from autograder.core.wire_format import Config, Rng
from autograder.curriculum.registry import BUILT_IN
from autograder.engine.diagnosis.explanation import Diagnosis, same_error
from autograder.engine.diagnosis.finite_differences import step_of
from autograder.engine.diagnosis.matching import (
    Match,
    has_finite_error,
    in_float32,
    match_in_part,
    match_values,
    nearly_correct,
)
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake, mistakes_of_function
from autograder.engine.diagnosis.variants import module_with_mistakes, parameter_names, solution_module
from autograder.engine.student import UNANSWERED, Cache, Call, RecordedCheck
from autograder.errors import StudentException

MAX_PAIRS = 60
MAX_NAMES = 2  # more mistakes than this that cannot be told apart say nothing
# Usually it is some milliseconds. But a check may hand on what the student's function returned, and be it ever so
# large: what runs here is the kit's own code, in the grader, where no limit of the sandbox ends it.
# CPU time: a busy machine finds the same names.
SECONDS = 20.0
CASE_SECONDS = 3.0  # for naming checks one by one, after that
MAX_ENTRIES = 100_000  # of an array that is looked through


Made = tuple[Mistake, ...]  # mistakes that are made together


def diagnose(function: str, replays: Iterable[RecordedCheck], package: str = BUILT_IN) -> dict[str, Diagnosis]:
    """The mistakes that explain the failing checks of a function, by the check's id; without those that none explains.

    Args:
        function: qualified name.
        replays: every check of the function that came to a call, passed or not.
        package: the course's.
    """
    ordered = sorted(replays, key=lambda replay: (replay.passed, replay.seconds))
    failing = [replay for replay in ordered if not replay.passed]
    if not failing:
        return {}
    known = mistakes_of_function(function, package)
    quotients = _quotients(known, failing, package)
    if quotients:
        return quotients
    search = _Search(function, ordered, package)
    single = [(mistake,) for mistake in known]
    if all(_came_to(function, replay) for replay in failing):  # else the forward pass failed: that says nothing here
        common = [mistake for mistake in known if mistake.common]
        found = search.explaining(single)
        if found:
            return _named(failing, Diagnosis(tuple(mistakes[0] for mistakes in found)))
        found = search.explaining(list(combinations(common, 2))[:MAX_PAIRS])
        if found:
            return _named(failing, Diagnosis(found[0], together=True))
    return search.case_by_case(single)


def _quotients(known: Iterable[Mistake], failing: Iterable[RecordedCheck], package: str) -> dict[str, Diagnosis]:
    """The checks whose answers are difference quotients: one is proved to be, and others are nearly right."""
    for mistake in known:
        if not mistake.quotient:
            continue
        replays = [replay for replay in failing if replay.calls[-1].function.qualified == mistake.function]
        steps = [_step_of(replay.calls[-1], mistake, package) for replay in replays]
        step = next((step for step in steps if step is not None), None)
        if step is not None:
            proof = f"your numbers are differences of floats next to each other, divided by {step:g} or twice that"
            return {
                replay.check: Diagnosis((mistake,), proof=proof)
                for replay, found in zip(replays, steps, strict=True)
                if found is not None or nearly_correct(replay.calls[-1].value, _right(replay, package))
            }
    return {}


def _step_of(call: Call, mistake: Mistake, package: str) -> float | None:
    parts = call.value if isinstance(call.value, tuple) else (call.value,)
    arrays = [
        part for part in parts if isinstance(part, np.ndarray) and part.dtype == np.float64 and part.size <= MAX_ENTRIES
    ]
    if mistake.quotient == "one":
        return next((step for step in map(step_of, arrays) if step is not None), None)
    dout, x = call.args[:2]
    if len(arrays) != 1 or arrays[0].shape != dout.shape != ():
        return None
    forward = getattr(solution_module(call.function.module, package), call.function.name.removesuffix("_backward"))
    with np.errstate(all="ignore"):
        return step_of(arrays[0] / dout, np.spacing(np.abs(forward(x))))


def _came_to(function: str, replay: RecordedCheck) -> bool:
    return any(call.function.qualified == function for call in replay.calls)


def _named(failing: Iterable[RecordedCheck], diagnosis: Diagnosis) -> dict[str, Diagnosis]:
    return {one.check: replace(diagnosis, raised=one.calls[-1].exception is not None) for one in failing}


class _Search:
    """Tries candidates on the checks of one function; what was tried once is remembered."""

    def __init__(self, function: str, replays: Sequence[RecordedCheck], package: str) -> None:
        self._function, self._replays, self._package = function, replays, package
        self._deadline = time.thread_time() + SECONDS
        self._fits: dict[tuple[Made, int], Match] = {}
        self._right: dict[int, Any] = {}

    def explaining(self, candidates: Iterable[Made]) -> list[Made]:
        """Those that give the student's answers in all checks."""
        found = []
        for mistakes in candidates:
            if time.thread_time() > self._deadline:
                return []  # of several that give the same answers all have to be named
            if all(self._fit(mistakes, place) is Match.EXACT for place in range(len(self._replays))):
                found.append(mistakes)
        return found

    def case_by_case(self, candidates: Sequence[Made]) -> dict[str, Diagnosis]:
        """For each failing check those that give its answer, and the right one in all checks that pass.

        Where several do, those are meant that explain the most checks.
        """
        self._deadline = min(self._deadline, time.thread_time() + CASE_SECONDS)
        explained: dict[int, dict[Made, Match]] = {}
        for place, replay in enumerate(self._replays):
            if not replay.passed and _came_to(self._function, replay):
                fits = self._fitting(candidates, place)
                if fits is None:
                    break
                explained[place] = fits
        if sum(map(self._is_a_riddle, explained, explained.values())) > sum(map(bool, explained.values())):
            return {}  # where most wrong answers are explained by nothing, the others are so by chance
        failing = sum(not replay.passed for replay in self._replays)
        found: dict[str, Diagnosis] = {}
        for place, fits in explained.items():
            ranks = {
                mistakes: (fit > Match.IN_PART, sum(mistakes in other for other in explained.values()), fit)
                for mistakes, fit in fits.items()
            }
            best = [mistakes for mistakes in fits if ranks[mistakes] == max(ranks.values())]
            most = self._names_allowed(place, ranks[best[0]][1]) if best else 0
            if best and len({mistakes[0].title for mistakes in best}) <= most:
                _, count, fit = ranks[best[0]]
                diagnosis = Diagnosis(
                    tuple(mistakes[0] for mistakes in best),
                    here_only=count < failing,
                    in_part=fit is Match.IN_PART,
                    up_to_dtype=fit is Match.UP_TO_DTYPE,
                )
                found |= _named([self._replays[place]], diagnosis)
        return found

    def _is_a_riddle(self, place: int, fits: dict[Made, Match]) -> bool:
        """Whether nothing explains a wrong answer; an exception and a wrong dtype speak for themselves."""
        return not fits and self._replays[place].calls[-1].exception is None and self._fit((), place) is Match.NO

    def _names_allowed(self, place: int, count: int) -> int:
        """How many mistakes may be told that explain one failing check, and `count` failing checks in all.

        What many a mistake ends in, an exception or nothing but nan, says less than wrong numbers do.
        """
        replay = self._replays[place]
        exception = replay.calls[-1].exception
        if exception is None:
            return MAX_NAMES if has_finite_error(replay.calls[-1].value, self._right_at(place)) else 1
        return 0 if "out of bounds" in exception.message and count == 1 else 1

    def _fitting(self, candidates: Sequence[Made], place: int) -> dict[Made, Match] | None:
        """The candidates that explain one failing check; None if there was no time to try them all."""
        fits: dict[Made, Match] = {}
        for mistakes in candidates:
            if time.thread_time() > self._deadline:
                return None
            fit = self._fit(mistakes, place)
            if fit is not Match.NO and self._contradicts_nothing(mistakes):
                fits[mistakes] = fit
        if Match.UP_TO_DTYPE in fits.values() and self._fit((), place) is not Match.NO:
            # The values are right, only the dtype is wrong: a mistake that does not show here gives them too.
            return {mistakes: fit for mistakes, fit in fits.items() if fit is Match.EXACT}
        return fits

    def _contradicts_nothing(self, mistakes: Made) -> bool:
        """Whether they give the right answer wherever the student did; what no check has looked at may be wrong."""
        return all(
            self._fit(mistakes, place) is Match.EXACT or self._fit((), place) is not Match.EXACT
            for place, replay in enumerate(self._replays)
            if replay.passed
        )

    def _fit(self, mistakes: Made, place: int) -> Match:
        """How well the answers of a check are those of the solution with these mistakes made, or with none."""
        key = (mistakes, place)
        if key not in self._fits:
            right = partial(self._right_at, place)
            self._fits[key] = _fit_of(self._function, mistakes, self._replays[place], self._package, right)
        return self._fits[key]

    def _right_at(self, place: int) -> Any:
        if place not in self._right:
            self._right[place] = _right(self._replays[place], self._package)
        return self._right[place]


def _fit_of(function: str, mistakes: Made, replay: RecordedCheck, package: str, right: Callable[[], Any]) -> Match:
    module, _, _ = function.partition(".")
    try:
        wrong = module_with_mistakes(*mistakes, package=package) if mistakes else solution_module(module, package)
    except BrokenMistake:
        return Match.NO  # two edits of the same line do not go together
    caches: dict[int, Any] = {}
    fit = Match.EXACT
    for call in replay.calls:
        space = wrong if call.function.module == module else solution_module(call.function.module, package)
        answer = _run(getattr(space, call.function.name), call, caches, package)
        if call.function.qualified == function:
            fit = min(fit, _fit_of_answer(call, answer, replay.passed, package))
            if fit is Match.NO and not replay.passed and mistakes and call is replay.calls[-1]:
                fit = _fit_in_part(call, answer, right)
            if fit is Match.NO:
                return fit
        _remember(call.value, answer.value, caches)
    return fit


def _right(replay: RecordedCheck, package: str) -> Any:
    """What the official solution returns in the last call of a check."""
    caches: dict[int, Any] = {}
    value = None
    for call in replay.calls:
        space = solution_module(call.function.module, package)
        value = _run(getattr(space, call.function.name), call, caches, package).value
        _remember(call.value, value, caches)
    return value


@dataclass
class _Answer:
    value: Any = None
    exception: StudentException | None = None
    modified: frozenset[str] = frozenset()  # the parameters whose arrays were written into


def _run(function: Callable[..., Any], call: Call, caches: dict[int, Any], package: str) -> _Answer:
    # Caches are handed on as they are; everything else is a copy, because a wrong function may write into its inputs.
    args = [_make(value, caches, package) for value in call.args]
    kwargs = {name: _make(value, caches, package) for name, value in call.kwargs.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = function(*args, **kwargs)
    except Exception as error:
        return _Answer(exception=StudentException(type(error).__name__, str(error)))
    before = {**dict(zip(parameter_names(call.function.qualified, package), call.args, strict=False)), **call.kwargs}
    after = {**dict(zip(before, args, strict=False)), **kwargs}
    return _Answer(value, modified=frozenset(name for name, old in before.items() if not _untouched(after[name], old)))


def _untouched(after: Any, before: Any) -> bool:
    """Whether arrays, alone or in dicts and lists, are bit for bit what they were; what is neither cannot change."""
    if isinstance(before, (np.ndarray, dict, list)) and type(after) is not type(before):
        return False
    if isinstance(before, np.ndarray):
        form = (before.dtype, before.shape)
        return (after.dtype, after.shape) == form and bool(after.tobytes() == before.tobytes())
    if isinstance(before, dict):
        return after.keys() == before.keys() and all(_untouched(after[key], old) for key, old in before.items())
    if isinstance(before, list):
        return len(after) == len(before) and all(map(_untouched, after, before))
    return True


def _make(value: Any, caches: dict[int, Any], package: str) -> Any:
    if isinstance(value, Cache):
        return caches.get(value.handle.number)
    if isinstance(value, Rng):
        return np.random.default_rng(value.seed)
    if isinstance(value, Config):
        return getattr(solution_module(value.module, package), value.name)(**value.fields)
    return copy.deepcopy(value)


def _remember(student: Any, ours: Any, caches: dict[int, Any]) -> None:
    """Where the student's value is a cache, ours is the one to hand on."""
    if isinstance(student, Cache):
        caches[student.handle.number] = ours
    elif type(student) is tuple and isinstance(ours, tuple):
        for mine, theirs in zip(student, ours, strict=False):
            _remember(mine, theirs, caches)


def _fit_of_answer(call: Call, answer: _Answer, passed: bool, package: str) -> Match:
    if call.exception is not None or answer.exception is not None:
        return Match.EXACT if _same_exception(call, answer.exception, package) else Match.NO
    if not _same_modified(call, answer, package) and not (passed and call.modified):  # one check looks at it, and fails
        return Match.NO
    # Wherever a float32 took part: what is computed with it may be off by as much, in whatever dtype it arrives.
    coarse = in_float32((*call.args, call.kwargs))
    return min(match_values(call.value, answer.value, coarse), _fit_of_entries(call, answer, coarse))


def _same_modified(call: Call, answer: _Answer, package: str) -> bool:
    """Whether the same arguments were written into; by name, if the student's have the names of the contract."""
    modified = {name.partition("[")[0] for name in call.modified}
    if not modified <= set(parameter_names(call.function.qualified, package)):
        return bool(modified) == bool(answer.modified)
    return modified == answer.modified


def _fit_in_part(call: Call, answer: _Answer, right: Callable[[], Any]) -> Match:
    if call.exception is not None or answer.exception is not None:
        return Match.NO
    return match_in_part(call.value, answer.value, right(), in_float32((*call.args, call.kwargs)))


def _same_exception(call: Call, ours: StudentException | None, package: str) -> bool:
    if call.exception is None or ours is None or call.exception.type != ours.type:
        return False
    if same_error(call.exception.message, ours.message):
        return True
    if any(isinstance(value, Cache) for value in (*call.args, *call.kwargs.values())):
        return False  # no contract demands one of a backward pass
    # Where the contract demands an exception, its text is free.
    right = _run(
        getattr(solution_module(call.function.module, package), call.function.name), call, {}, package
    ).exception
    return right is not None and right.type == call.exception.type


def _fit_of_entries(call: Call, answer: _Answer, coarse: bool) -> Match:
    """How well the entries of the cache that a check looked at are the same."""
    if not call.entries:
        return Match.EXACT
    cache = answer.value[-1] if isinstance(answer.value, tuple) else answer.value
    if not isinstance(cache, dict):
        return Match.NO
    fits = [
        match_values(value, cache[name], coarse)
        if name in cache
        else (Match.EXACT if value is UNANSWERED else Match.NO)
        for name, value in call.entries.items()
    ]
    return min(fits)

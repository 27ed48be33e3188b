"""Name the mistake: run known wrong implementations on the same inputs, and compare their answers with the student's.

A mistake that gives the student's answer in every check of the function, failed or passed, is not a guess. Where
neither a mistake nor a pair of mistakes explains all failures, each failed check is explained separately, by mistakes
that give exactly its answer and contradict no passed check. A mistake is recognized even if the dtype is wrong, too.
Where two mistakes give the same answers, both are named. Where none does, nothing is reported.
"""

import copy
import time
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice
from typing import Any

import numpy as np

from autograder.core.wire_format import Config, Rng
from autograder.curriculum.registry import BUILT_IN
from autograder.engine.diagnosis.explanation import Diagnosis, is_same_error
from autograder.engine.diagnosis.finite_differences import find_step
from autograder.engine.diagnosis.matching import (
    Match,
    has_finite_error,
    in_float32,
    match_in_part,
    match_values,
    nearly_correct,
)
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake, mistakes_of_function
from autograder.engine.diagnosis.variants import instance_of, module_with_mistakes, parameter_names, solution_module
from autograder.engine.student import UNANSWERED, Cache, Call, RecordedCheck
from autograder.errors import StudentException

MAX_PAIRS = 60
MAX_ALTERNATIVES = 2  # More indistinguishable mistakes than this are not worth reporting.
# A diagnosis usually takes milliseconds. But some checks pass on what the student's function returned, of any size, and
# these limits are the only ones: Headway's own code runs here, outside the sandbox. They are CPU time, so that a busy
# machine gives the same diagnosis.
SECONDS = 20.0
SECONDS_FOR_SINGLE_CHECKS = 3.0  # at most, of what is left
MAX_ENTRIES = 100_000  # Larger arrays are not searched for difference quotients.

Combination = tuple[Mistake, ...]  # mistakes that are made together


def diagnose(function: str, checks: Iterable[RecordedCheck], package: str = BUILT_IN) -> dict[str, Diagnosis]:
    """Return the mistakes that explain failed checks, by id; `checks` are the function's that made a call."""
    ordered = sorted(checks, key=lambda check: (check.passed, check.seconds))
    failed = [check for check in ordered if not check.passed]
    if not failed:
        return {}
    known = mistakes_of_function(function, package)
    if quotients := _diagnose_quotients(known, failed, package):
        return quotients
    search = _Search(function, ordered, package)
    single = [(mistake,) for mistake in known]
    if all(_calls(function, check) for check in failed):  # Otherwise the forward pass failed in some of them.
        if alternatives := search.explain_all(single):
            return _assign(failed, Diagnosis(tuple(mistake for (mistake,) in alternatives)))
        common = [mistake for mistake in known if mistake.common]
        if pairs := search.explain_all(islice(combinations(common, 2), MAX_PAIRS)):
            return _assign(failed, Diagnosis(pairs[0], together=True))
    return search.explain_each(single)


def _diagnose_quotients(
    known: Iterable[Mistake], failed: Iterable[RecordedCheck], package: str
) -> dict[str, Diagnosis]:
    """Diagnose checks whose answers are difference quotients: at least one provably, the others nearly correct."""
    for mistake in known:
        if not mistake.quotient:
            continue
        checks = [check for check in failed if check.calls[-1].function.qualified == mistake.function]
        steps = [_find_step(check.calls[-1], mistake, package) for check in checks]
        step = next((step for step in steps if step is not None), None)
        if step is not None:
            proof = f"your numbers are differences of neighbouring floats, divided by {step:g} or twice that"
            return {
                check.id: Diagnosis((mistake,), proof=proof)
                for check, own_step in zip(checks, steps, strict=True)
                if own_step is not None or nearly_correct(check.calls[-1].value, _correct_answer(check, package))
            }
    return {}


def _find_step(call: Call, mistake: Mistake, package: str) -> float | None:
    parts = call.value if isinstance(call.value, tuple) else (call.value,)
    arrays = [
        part for part in parts if isinstance(part, np.ndarray) and part.dtype == np.float64 and part.size <= MAX_ENTRIES
    ]
    if mistake.quotient == "one":
        return next((step for step in map(find_step, arrays) if step is not None), None)
    dout, x = call.args[:2]
    if len(arrays) != 1 or arrays[0].shape != dout.shape != ():
        return None
    forward = getattr(solution_module(call.function.module, package), call.function.name.removesuffix("_backward"))
    with np.errstate(all="ignore"):
        return find_step(arrays[0] / dout, np.spacing(np.abs(forward(x))))


def _calls(function: str, check: RecordedCheck) -> bool:
    return any(call.function.qualified == function for call in check.calls)


def _assign(checks: Iterable[RecordedCheck], diagnosis: Diagnosis) -> dict[str, Diagnosis]:
    return {check.id: replace(diagnosis, raised=check.calls[-1].exception is not None) for check in checks}


class _Search:
    """A search for the mistakes that explain the checks of one function; remembers every comparison."""

    def __init__(self, function: str, checks: Sequence[RecordedCheck], package: str) -> None:
        self._function, self._checks, self._package = function, checks, package
        self._deadline = time.thread_time() + SECONDS
        self._matches: dict[tuple[Combination, int], Match] = {}
        self._correct_answers: dict[int, Any] = {}

    def explain_all(self, candidates: Iterable[Combination]) -> list[Combination]:
        """Return the candidates that give the student's answers in all checks."""
        explanations = []
        for mistakes in candidates:
            if time.thread_time() > self._deadline:
                return []  # All of several indistinguishable mistakes must be named, or none.
            if all(self._match(mistakes, index) is Match.EXACT for index in range(len(self._checks))):
                explanations.append(mistakes)
        return explanations

    def explain_each(self, candidates: Sequence[Combination]) -> dict[str, Diagnosis]:
        """Return, by failed check, the candidates that give its answer, contradict no pass and explain the most."""
        self._deadline = min(self._deadline, time.thread_time() + SECONDS_FOR_SINGLE_CHECKS)
        explained: dict[int, dict[Combination, Match]] = {}
        for index, check in enumerate(self._checks):
            if not check.passed and _calls(self._function, check):
                matches = self._matching(candidates, index)
                if matches is None:
                    break
                explained[index] = matches
        if sum(map(self._is_unexplained, explained, explained.values())) > sum(map(bool, explained.values())):
            return {}  # If most wrong answers have no explanation, the others have theirs by chance.
        failed = sum(not check.passed for check in self._checks)
        diagnoses: dict[str, Diagnosis] = {}
        for index, matches in explained.items():
            ranks = {
                mistakes: (match > Match.IN_PART, sum(mistakes in other for other in explained.values()), match)
                for mistakes, match in matches.items()
            }
            best = [mistakes for mistakes in matches if ranks[mistakes] == max(ranks.values())]
            most = self._max_alternatives(index, ranks[best[0]][1]) if best else 0
            if best and len({mistakes[0].title for mistakes in best}) <= most:
                _, count, match = ranks[best[0]]
                diagnosis = Diagnosis(
                    tuple(mistakes[0] for mistakes in best),
                    here_only=count < failed,
                    in_part=match is Match.IN_PART,
                    up_to_dtype=match is Match.UP_TO_DTYPE,
                )
                diagnoses |= _assign([self._checks[index]], diagnosis)
        return diagnoses

    def _is_unexplained(self, index: int, matches: dict[Combination, Match]) -> bool:
        """Return whether nothing explains a wrong answer; an exception and a wrong dtype need no explanation."""
        return not matches and self._checks[index].calls[-1].exception is None and self._match((), index) is Match.NO

    def _max_alternatives(self, index: int, count: int) -> int:
        """Return how many alternatives may be reported for a failed check, if each explains `count` failed checks.

        Wrong numbers distinguish mistakes better than exceptions and nan do, in which many mistakes end.
        """
        check = self._checks[index]
        exception = check.calls[-1].exception
        if exception is None:
            return MAX_ALTERNATIVES if has_finite_error(check.calls[-1].value, self._correct_answer_at(index)) else 1
        return 0 if "out of bounds" in exception.message and count == 1 else 1

    def _matching(self, candidates: Sequence[Combination], index: int) -> dict[Combination, Match] | None:
        """Return the candidates that explain one failed check; None if there was no time to try them all."""
        matches: dict[Combination, Match] = {}
        for mistakes in candidates:
            if time.thread_time() > self._deadline:
                return None
            match = self._match(mistakes, index)
            if match is not Match.NO and self._contradicts_no_pass(mistakes):
                matches[mistakes] = match
        if Match.UP_TO_DTYPE in matches.values() and self._match((), index) is not Match.NO:
            # Only the dtype is wrong: a mistake without effect on this check gives these values, too.
            return {mistakes: match for mistakes, match in matches.items() if match is Match.EXACT}
        return matches

    def _contradicts_no_pass(self, mistakes: Combination) -> bool:
        """Return whether they give the correct answer wherever the student does."""
        return all(
            self._match(mistakes, index) is Match.EXACT or self._match((), index) is not Match.EXACT
            for index, check in enumerate(self._checks)
            if check.passed
        )

    def _match(self, mistakes: Combination, index: int) -> Match:
        """Return how well the answers of a check match those of the solution with these mistakes, or with none."""
        key = (mistakes, index)
        if key not in self._matches:
            right = partial(self._correct_answer_at, index)
            self._matches[key] = _match_check(self._function, mistakes, self._checks[index], self._package, right)
        return self._matches[key]

    def _correct_answer_at(self, index: int) -> Any:
        if index not in self._correct_answers:
            self._correct_answers[index] = _correct_answer(self._checks[index], self._package)
        return self._correct_answers[index]


def _match_check(
    function: str, mistakes: Combination, check: RecordedCheck, package: str, right: Callable[[], Any]
) -> Match:
    module, _, _ = function.partition(".")
    try:
        wrong = module_with_mistakes(*mistakes, package=package) if mistakes else solution_module(module, package)
    except BrokenMistake:
        return Match.NO  # Both mistakes edit the same line.
    caches: dict[int, Any] = {}
    match = Match.EXACT
    for call in check.calls:
        space = wrong if call.function.module == module else solution_module(call.function.module, package)
        answer = _run(space, call, caches, package)
        if call.function.qualified == function:
            match = min(match, _match_answer(call, answer, check.passed, package))
            is_failure = not check.passed and call is check.calls[-1]
            if match is Match.NO and mistakes and is_failure and call.exception is None and answer.exception is None:
                match = match_in_part(call.value, answer.value, right(), in_float32((*call.args, call.kwargs)))
            if match is Match.NO:
                return match
        _remember_cache(call.value, answer.value, caches)
    return match


def _correct_answer(check: RecordedCheck, package: str) -> Any:
    """Return what the official solution returns in the last call of a check."""
    caches: dict[int, Any] = {}
    value = None
    for call in check.calls:
        value = _run(solution_module(call.function.module, package), call, caches, package).value
        _remember_cache(call.value, value, caches)
    return value


@dataclass
class _Answer:
    value: Any = None
    exception: StudentException | None = None
    modified: frozenset[str] = frozenset()  # parameters whose arrays were changed


def _run(module: types.ModuleType, call: Call, caches: dict[int, Any], package: str) -> _Answer:
    function = getattr(module, call.function.name)
    # Everything but caches is copied, because a wrong function may write into its inputs.
    args = [_prepare_argument(value, caches, package) for value in call.args]
    kwargs = {name: _prepare_argument(value, caches, package) for name, value in call.kwargs.items()}
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
    """Return whether arrays, alone or in dicts and lists, are unchanged; other values cannot change."""
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


def _prepare_argument(value: Any, caches: dict[int, Any], package: str) -> Any:
    if isinstance(value, Cache):
        return caches.get(value.handle.number)
    if isinstance(value, Rng):
        return np.random.default_rng(value.seed)
    if isinstance(value, Config):
        return instance_of(value, package)
    return copy.deepcopy(value)


def _remember_cache(student: Any, candidate: Any, caches: dict[int, Any]) -> None:
    """Remember the candidate's cache where the student's value is a cache."""
    if isinstance(student, Cache):
        caches[student.handle.number] = candidate
    elif type(student) is tuple and isinstance(candidate, tuple):
        for student_part, candidate_part in zip(student, candidate, strict=False):
            _remember_cache(student_part, candidate_part, caches)


def _match_answer(call: Call, answer: _Answer, passed: bool, package: str) -> Match:
    if call.exception is not None or answer.exception is not None:
        return Match.EXACT if _same_exception(call, answer.exception, package) else Match.NO
    if not _same_modified(call, answer, package) and not (passed and call.modified):  # Another check tests for it.
        return Match.NO
    # What is computed with a float32 may differ by as much, whatever its dtype.
    coarse = in_float32((*call.args, call.kwargs))
    return min(match_values(call.value, answer.value, coarse), _match_entries(call, answer, coarse))


def _same_modified(call: Call, answer: _Answer, package: str) -> bool:
    """Return whether the same arguments were changed; by name, if the student's parameters have their names."""
    modified = {name.partition("[")[0] for name in call.modified}
    if not modified <= set(parameter_names(call.function.qualified, package)):
        return bool(modified) == bool(answer.modified)
    return modified == answer.modified


def _same_exception(call: Call, exception: StudentException | None, package: str) -> bool:
    if call.exception is None or exception is None or call.exception.type != exception.type:
        return False
    if is_same_error(call.exception.message, exception.message):
        return True
    if any(isinstance(value, Cache) for value in (*call.args, *call.kwargs.values())):
        return False  # No contract requires a backward pass to raise one.
    # Where the contract requires an exception, its text is free.
    right = _run(solution_module(call.function.module, package), call, {}, package).exception
    return right is not None and right.type == call.exception.type


def _match_entries(call: Call, answer: _Answer, coarse: bool) -> Match:
    """Return how well the cache entries that a check read match."""
    if not call.entries:
        return Match.EXACT
    cache = answer.value[-1] if isinstance(answer.value, tuple) else answer.value
    if not isinstance(cache, dict):
        return Match.NO
    return min(
        match_values(value, cache[name], coarse) if name in cache else Match.EXACT if value is UNANSWERED else Match.NO
        for name, value in call.entries.items()
    )

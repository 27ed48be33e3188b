"""Search for the mistakes, alone or together, that explain the checks of one function."""

import re
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, combinations, islice, product
from typing import Any

import numpy as np

from autograder.core import cpu_clock
from autograder.engine.diagnosis.explanation import Diagnosis
from autograder.engine.diagnosis.matching import (
    NOT_COMPARABLE,
    Match,
    Outcome,
    Part,
    has_finite_error,
    in_float32,
    is_distinctive,
    match_parts,
    match_values,
    results,
    worst_match,
)
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake
from autograder.engine.diagnosis.replay import (
    Answer,
    correct_answer,
    replay,
    same_exception,
    same_modified,
)
from autograder.engine.diagnosis.variants import keeps_all_edits, module_with_mistakes, solution_module
from autograder.engine.student import UNANSWERED, Call, RecordedCheck
from autograder.errors import Cancelled

Combination = tuple[Mistake, ...]  # mistakes that are made together

MAX_ALTERNATIVES = 2  # More indistinguishable mistakes than this are not worth reporting.
MAX_PAIRS = 60  # of common mistakes
MAX_TRIPLES = 60
MAX_OTHER_PAIRS = 200
SECONDS_WITHOUT_LEADS = 0.15  # for sets of mistakes of which none explains anything alone
MAX_LEADS = 4  # whose pairs with all others are tried early
FIRST = 3  # What explains nothing in so many failed checks, the fastest, is not tried on the others.
_ANY_CODE = re.compile("NoneType|out of range|is not defined|maximum recursion")  # Any code may raise these.


class Search:
    """A search for the mistakes that explain the checks of one function; remembers every comparison.

    Time is CPU time, so that a busy machine gives the same diagnosis.
    """

    def __init__(
        self,
        function: str,
        checks: Sequence[RecordedCheck],
        package: str,
        seconds: float,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Search among `checks`, the failed ones first, in the order in which they are tried."""
        self._is_cancelled = is_cancelled
        self.function, self.checks, self.package = function, checks, package
        self.module = function.partition(".")[0]
        self.failed = [i for i, check in enumerate(checks) if not check.passed and calls(function, check)]
        self._final_deadline = self._last_deadline = self._deadline = cpu_clock.cpu_seconds() + seconds
        self._outcomes: dict[tuple[Combination, int], Outcome] = {}
        self._correct_answers: dict[int, Answer] = {}
        self._right_parts: dict[int, dict[tuple[str, int], bool]] = {}

    def end_after(self, seconds: float) -> None:
        """Leave at most so much time for everything that follows, whatever earlier calls have left."""
        self._last_deadline = self._deadline = min(self._final_deadline, cpu_clock.cpu_seconds() + seconds)

    def begin_phase(self, seconds: float) -> None:
        """Leave at most so much time for what follows."""
        self._deadline = min(self._last_deadline, cpu_clock.cpu_seconds() + seconds)

    @property
    def is_out_of_time(self) -> bool:
        """Return whether the time is up; raise Cancelled if the search was cancelled."""
        if self._is_cancelled():
            raise Cancelled
        return cpu_clock.cpu_seconds() > self._deadline

    # Explanations of all checks

    def explain_all(self, candidates: Iterable[Combination], *, first_only: bool = False) -> list[Combination]:
        """Return the candidates that give the student's answers in all checks, or only the first of them."""
        explanations: list[Combination] = []
        for mistakes in candidates:
            if explanations and first_only:
                break
            if self.is_out_of_time:
                return []  # All of several indistinguishable mistakes must be named, or none.
            if self.explains_all(mistakes):
                explanations.append(mistakes)
        return explanations

    @property
    def has_distinctive_check(self) -> bool:
        """Return whether a failed check has wrong numbers that nothing matches by chance."""
        return self._first_distinctive is not None

    @cached_property
    def _first_distinctive(self) -> int | None:
        return next((index for index in self.failed if self.is_distinctive(index)), None)

    def explains_all(self, mistakes: Combination) -> bool:
        """Return whether mistakes that are made together give the student's answers in all checks."""
        return self._is_evidence(self.failed) and all(
            self.outcome(mistakes, index).match is Match.EXACT or self._says_nothing(index)
            for index in self._comparable()
        )

    def _is_evidence(self, failed: Sequence[int]) -> bool:
        """Return whether what a mistake repeats in failed checks is more than an exception that any code may raise.

        Numbers are, and messages that few lines can cause, and right answers in other checks.
        """
        if any(check.passed and check.calls[-1].exception is None for check in self.checks):
            return True
        errors = [self.checks[index].calls[-1].exception for index in failed]
        return any(error is None or not _ANY_CODE.search(error.message) for error in errors) or any(
            self.correct_answer(index).exception is not None for index in failed
        )

    def _says_nothing(self, index: int) -> bool:
        """Return whether a check passes with answers that the solution does not give: its tolerance is large."""
        return self.checks[index].passed and self.outcome((), index).match is not Match.EXACT

    def explain_together(self, singles: Sequence[Mistake], *, likely_only: bool = False) -> Combination:
        """Return two or three mistakes that explain all checks together; () if there are none, or several such sets.

        Only answers with several different wrong numbers prove so much. `likely_only` limits the search to pairs of
        mistakes that explain something by themselves or are common.
        """
        if not self.has_distinctive_check:
            return ()
        leads = self._leads(singles)
        if not leads:
            self.begin_phase(SECONDS_WITHOUT_LEADS)
        common = [mistake for mistake in singles if mistake.common and self._is_possible(mistake)]
        rest = self._rest(leads, singles)
        likely = (
            combinations(leads, 2),
            islice(combinations(common, 2), MAX_PAIRS),
            product(leads[:MAX_LEADS], rest),
        )
        others = (
            product(leads, rest),
            islice(combinations(leads, 3), MAX_TRIPLES),
            islice(combinations(common, 3), MAX_TRIPLES),
            # Nothing hints at these. The larger the share of common ones, the less is it by chance.
            islice(product(common, (mistake for mistake in rest if not mistake.common)), MAX_OTHER_PAIRS),
        )
        for candidates in likely if likely_only else (*likely, *others):
            if sets := self._explaining(candidates):
                titles = {frozenset(mistake.title for mistake in mistakes) for mistakes in sets}
                return sets[0] if len(titles) <= MAX_ALTERNATIVES else ()
        return ()

    def _explaining(self, candidates: Iterable[Combination]) -> list[Combination]:
        found = []
        for mistakes in candidates:
            if self.is_out_of_time:
                break
            if self.explains_all(mistakes):
                found.append(mistakes)
        # A mistake that is made only in part may claim more than is wrong: halves have names of their own.
        return [mistakes for mistakes in found if keeps_all_edits(mistakes, self.package)] or found

    def _comparable(self) -> Iterator[int]:
        """Yield the checks that call the function, or pass: in the others, the forward pass failed."""
        return (i for i, check in enumerate(self.checks) if check.passed or i in self.failed)

    # Explanations of single checks

    def explain_each(self, singles: Sequence[Mistake], *, with_pairs: bool = True) -> dict[str, Diagnosis]:
        """Return, by failed check, the candidates that give its answer, contradict nothing and explain the most."""
        explained: dict[int, dict[Combination, Outcome]] = {}
        candidates = [
            (mistake,) for mistake in singles if self._is_own((mistake,)) or self._explains_something(mistake)
        ]
        for index in self.failed:
            matches = self._matching(candidates, index)
            if matches is None:
                break
            explained[index] = matches if self._is_evidence([index]) else {}
            if not any(explained.values()) and sum(map(self._is_unexplained, explained, explained.values())) >= FIRST:
                break
        if with_pairs:
            self._add_pairs(explained, singles)
        # If most wrong answers have no explanation, simple ones have theirs by chance.
        doubtful = sum(map(self._is_unexplained, explained, explained.values())) > sum(map(bool, explained.values()))
        diagnoses: dict[str, Diagnosis] = {}
        for index, matches in explained.items():
            counts = {mistakes: sum(mistakes in other for other in explained.values()) for mistakes in matches}
            ranks = {
                mistakes: (*self._rank(outcome, counts[mistakes]), self._preference(mistakes))
                for mistakes, outcome in matches.items()
            }
            best = [mistakes for mistakes in matches if ranks[mistakes] == max(ranks.values())]
            if not best or (doubtful and not self._is_certain(best[0], index, matches[best[0]])):
                continue
            titles = {tuple(mistake.title for mistake in mistakes) for mistakes in best}
            if len(titles) <= self._max_alternatives(index, counts[best[0]]):
                diagnoses |= assign(
                    [self.checks[index]], self._describe(best, index, matches[best[0]], counts[best[0]])
                )
        return diagnoses

    def _is_own(self, mistakes: Combination) -> bool:
        return all(mistake.function == self.function for mistake in mistakes)

    def _preference(self, mistakes: Combination) -> tuple[bool, bool]:
        """Return what decides between mistakes that explain the same."""
        return self._is_own(mistakes), not any(mistake.generated or mistake.fitted for mistake in mistakes)

    def _rank(self, outcome: Outcome, count: int) -> tuple[Any, ...]:
        complete = outcome.match > Match.IN_PART
        return (complete, not outcome.affects_remaining, count, outcome.match, -len(outcome.remaining))

    def _describe(self, best: list[Combination], index: int, outcome: Outcome, count: int) -> Diagnosis:
        together = len(best[0]) > 1
        return Diagnosis(
            best[0] if together else tuple(mistakes[0] for mistakes in best),
            together=together,
            here_only=count < sum(not check.passed for check in self.checks),
            in_part=outcome.match is Match.IN_PART,
            parts=outcome.explained if outcome.match is Match.IN_PART else (),
            up_to_dtype=outcome.match is Match.UP_TO_DTYPE,
        )

    def _add_pairs(self, explained: dict[int, dict[Combination, Outcome]], singles: Sequence[Mistake]) -> None:
        """Add pairs that explain checks completely which single mistakes do not."""
        for index, matches in explained.items():
            if any(outcome.match > Match.IN_PART for outcome in matches.values()) or not self.is_distinctive(index):
                continue
            leads = self._leads(singles)
            for pair in chain(combinations(leads, 2), product(leads, self._rest(leads, singles))):
                if self.is_out_of_time:
                    return
                outcome = self.outcome(pair, index)
                if outcome.match is Match.EXACT and not self.contradicts(pair):
                    matches[pair] = outcome

    def _is_certain(self, mistakes: Combination, index: int, outcome: Outcome) -> bool:
        """Return whether an explanation needs no others beside it: its numbers and sizes say enough."""
        return self.is_distinctive(index, outcome.explained) and has_different_sizes(self.checks[index].calls[-1])

    def _is_unexplained(self, index: int, matches: dict[Combination, Outcome]) -> bool:
        """Return whether nothing explains a wrong answer; an exception and a wrong dtype need no explanation."""
        is_wrong = self.checks[index].calls[-1].exception is None and self.outcome((), index).match is Match.NO
        return not matches and is_wrong

    def _max_alternatives(self, index: int, count: int) -> int:
        """Return how many alternatives may be reported for a failed check, if each explains `count` failed checks.

        Wrong numbers distinguish mistakes better than exceptions and nan do, in which many mistakes end.
        """
        call = self.checks[index].calls[-1]
        if call.exception is None:
            return MAX_ALTERNATIVES if has_finite_error(call.value, self.correct_answer(index).value) else 1
        return 0 if "out of bounds" in call.exception.message and count == 1 else 1

    def _matching(self, candidates: Sequence[Combination], index: int) -> dict[Combination, Outcome] | None:
        """Return the candidates that explain one failed check; None if there was no time to try them all."""
        matches: dict[Combination, Outcome] = {}
        if self.outcome((), index).match is Match.EXACT:
            return matches  # In float32, the error is too small to tell its cause.
        for mistakes in candidates:
            if self.is_out_of_time:
                return None
            outcome = self.outcome(mistakes, index)
            # Without distinctive numbers, another function's mistake is one of many possible causes.
            if outcome.match is Match.NO or not (self._is_own(mistakes) or self.is_distinctive(index)):
                continue
            if not self.contradicts(mistakes):
                matches[mistakes] = outcome
        dtype_is_wrong = any(outcome.match is Match.UP_TO_DTYPE for outcome in matches.values())
        if dtype_is_wrong and self.outcome((), index).match is not Match.NO:
            # Only the dtype is wrong: a mistake without effect on this check gives these values, too.
            return {mistakes: outcome for mistakes, outcome in matches.items() if outcome.match is Match.EXACT}
        return matches

    # Comparisons

    def contradicts(self, mistakes: Combination) -> bool:
        """Return whether they are wrong where the student is right: in a check that passes, or in a part of another."""
        return self._is_contradicted(mistakes, self._comparable())

    def _is_contradicted(self, mistakes: Combination, indices: Iterable[int]) -> bool:
        for index in indices:
            outcome = self.outcome(mistakes, index)
            if self.checks[index].passed:
                if outcome.match is not Match.EXACT and not self._says_nothing(index):
                    return True
            elif outcome.contradicts:
                return True
        return False

    def explains_most(self, mistake: Mistake) -> bool:
        """Return whether a mistake explains at least two failed checks, and more than half of them."""
        count = sum(self.outcome((mistake,), index).match > Match.IN_PART for index in self.failed)
        return count >= 2 and 2 * count > len(self.failed)

    def _leads(self, singles: Sequence[Mistake]) -> list[Mistake]:
        """Return the mistakes that explain something by themselves, as far as there is time."""
        return [
            mistake
            for mistake in singles
            if not self.is_out_of_time and self._explains_something(mistake) and not self.contradicts((mistake,))
        ]

    def _rest(self, leads: Sequence[Mistake], singles: Sequence[Mistake]) -> list[Mistake]:
        """Return the other mistakes that are possible, as far as there is time."""
        others = (mistake for mistake in singles if mistake not in leads)
        return [mistake for mistake in others if not self.is_out_of_time and self._is_possible(mistake)]

    def _is_possible(self, mistake: Mistake) -> bool:
        """Return whether nothing contradicts a mistake in the first checks of either kind."""
        passed = [index for index, check in enumerate(self.checks) if check.passed]
        return not self._is_contradicted((mistake,), [*self.failed[:FIRST], *passed[:FIRST]])

    def _explains_something(self, mistake: Mistake) -> bool:
        """Return whether a mistake explains something in the first failed checks; of another function, in one."""
        indices = self.failed[:FIRST]
        if not self._is_own((mistake,)) and self._first_distinctive is not None:
            indices = [self._first_distinctive]
        return any(self.outcome((mistake,), index).match is not Match.NO for index in indices)

    def is_distinctive(self, index: int, names: Sequence[str] = ()) -> bool:
        """Return whether the wrong numbers of a check, or of the parts with these names, match nothing by chance."""
        call, right = self.checks[index].calls[-1], self.correct_answer(index)
        if call.exception is not None or right.exception is not None:
            return False
        coarse = is_coarse(call)
        parts = parts_of(call, right, right)
        if parts is None:
            return is_distinctive(call.value, right.value, coarse) if isinstance(call.value, np.ndarray) else False
        parts = [part for part in parts if not names or part.name in names]
        return any(is_distinctive(part.student, part.right, coarse) for part in parts)

    def outcome(self, mistakes: Combination, index: int) -> Outcome:
        """Return how the answers of a check match those of the solution with these mistakes, or with none."""
        key = (mistakes, index)
        if key not in self._outcomes:
            try:
                wrong = (
                    module_with_mistakes(*mistakes, package=self.package, of_module=self.module)
                    if mistakes
                    else solution_module(self.module, self.package)
                )
            except BrokenMistake:
                self._outcomes[key] = Outcome(Match.NO)  # Both mistakes edit the same line.
            else:
                self._outcomes[key] = self.outcome_of_module(wrong, index, in_parts=bool(mistakes))
        return self._outcomes[key]

    def outcome_of_module(self, wrong: types.ModuleType, index: int, *, in_parts: bool = True) -> Outcome:
        """Return how the answers of a check match those of a module."""
        return self.outcome_of_answers(replay(self.checks[index], wrong, self.package), index, in_parts=in_parts)

    def outcome_of_answers(
        self, answers: Iterable[tuple[Call, Answer]], index: int, *, in_parts: bool = True
    ) -> Outcome:
        """Return how the answers of a check match those of a candidate to its calls."""
        check = self.checks[index]
        match = Match.EXACT
        for call, answer in answers:
            if call.function.qualified == self.function:
                official = self.correct_answer(index) if call is check.calls[-1] and call.exception else None
                match = min(match, match_answer(call, answer, check.passed, self.package, official))
                if match is Match.NO:
                    is_failure = not check.passed and call is check.calls[-1]
                    return self._outcome_in_parts(index, answer) if is_failure and in_parts else NOT_COMPARABLE
        return Outcome(match)

    def _outcome_in_parts(self, index: int, answer: Answer) -> Outcome:
        call = self.checks[index].calls[-1]
        if call.exception is not None:
            return Outcome(Match.NO)
        if answer.exception is not None:  # If the solution raises one, too, the student forgot to: another mistake.
            return NOT_COMPARABLE if self.correct_answer(index).exception is None else Outcome(Match.NO)
        parts = parts_of(call, answer, self.correct_answer(index))
        if parts is None:
            return Outcome(Match.NO)
        outcome = match_parts(parts, is_coarse(call), self._right_parts.setdefault(index, {}))
        if outcome.match is Match.IN_PART and (len(parts) < 2 or not same_modified(call, answer, self.package)):
            return Outcome(Match.NO)
        return outcome

    def correct_answer(self, index: int) -> Answer:
        """Return what the official solution returns in the last call of a check."""
        if index not in self._correct_answers:
            self._correct_answers[index] = correct_answer(self.checks[index], self.package)
        return self._correct_answers[index]


def calls(function: str, check: RecordedCheck) -> bool:
    """Return whether a check has called the function."""
    return any(call.function.qualified == function for call in check.calls)


def assign(checks: Iterable[RecordedCheck], diagnosis: Diagnosis) -> dict[str, Diagnosis]:
    """Return the diagnosis for each of the checks, which are of one function."""
    return {
        check.id: replace(diagnosis, raised=check.calls[-1].exception is not None, function=check.id.partition("::")[0])
        for check in checks
    }


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
    first = names[0] if names else ""
    found = results(first, call.value, answer.value, right.value, names)
    return None if found is None else [*stages, *found]


def results_of(call: Call, answer: Answer) -> list[Part]:
    """Return the results of an answer, with their names."""
    names = [output.name for output in call.function.outputs]
    return results(names[0] if names else "", answer.value, answer.value, answer.value, names) or []


def match_answer(call: Call, answer: Answer, passed: bool, package: str, official: Answer | None = None) -> Match:
    """Return how well a candidate's answer matches the student's as a whole; for `official` see `same_exception`."""
    if call.exception is not None or answer.exception is not None:
        return Match.EXACT if same_exception(call, answer.exception, package, official) else Match.NO
    if not same_modified(call, answer, package) and not (passed and call.modified):  # Another check tests for it.
        return Match.NO
    match = match_value(call, answer)
    return match if match is Match.NO else min(match, _match_entries(call, answer, is_coarse(call)))


def match_value(call: Call, answer: Answer) -> Match:
    """Return how well the value that a candidate returned matches the student's."""
    return match_values(call.value, answer.value, is_coarse(call))


def is_coarse(call: Call) -> bool:
    """Return whether comparisons are coarse: what is computed with a float32 may differ as much as one."""
    return in_float32((*call.args, call.kwargs))


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

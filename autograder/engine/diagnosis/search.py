"""Search for the mistakes, alone or together, whose answers match the student's in the checks of one function."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, combinations, islice, product
from typing import Any

from autograder.core import interpreter
from autograder.engine.diagnosis import matching
from autograder.engine.diagnosis.explanation import Diagnosis, is_same_refusal
from autograder.engine.diagnosis.matching import Match, Outcome, Part, is_coarse, match_answer, match_parts, parts_of
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake
from autograder.engine.diagnosis.replay import Answer, correct_answer, replay, same_modified
from autograder.engine.diagnosis.variants import keeps_all_edits, module_with_mistakes
from autograder.engine.student import Call, RecordedCheck
from autograder.errors import Cancelled

MAX_ALTERNATIVES = 2  # More indistinguishable mistakes than this are not worth reporting.
MAX_PAIRS = 60  # of common mistakes
MAX_TRIPLES = 60
MAX_OTHER_PAIRS = 200
MAX_UNLIKELY_PAIRS = 600  # of changes of which none explains anything alone
SECONDS_WITHOUT_LEADS = 0.15  # for sets of mistakes of which none explains anything alone
MAX_LEADS = 4  # whose pairs with all others are tried early
FIRST = 3  # What explains nothing in so many failed checks, the fastest, is not tried on the others.
_ANY_CODE = re.compile("NoneType|out of range|is not defined|maximum recursion")  # Any code may raise these.

Combination = tuple[Mistake, ...]  # mistakes that are made together


class Comparisons:
    """Compares candidates with the student in the checks of one function, and remembers every comparison.

    Checks are named by their index in `checks`; `failed` are those that called the function and failed.
    """

    def __init__(self, function: str, checks: Sequence[RecordedCheck], package: str) -> None:
        self.function, self.checks, self.package = function, checks, package
        self.module = function.partition(".")[0]
        failed = ((i, check.calls) for i, check in enumerate(checks) if not check.passed)
        self.failed = [i for i, calls in failed if any(call.function.qualified == function for call in calls)]
        self._outcomes: dict[tuple[Combination, int], Outcome] = {}
        self._correct_answers: dict[int, Answer] = {}
        self._right_parts: dict[int, dict[tuple[str, int], bool]] = {}

    def last_call(self, index: int) -> Call:
        """Return the call whose answer a check compares."""
        return self.checks[index].calls[-1]

    def comparable(self) -> Iterator[int]:
        """Yield the checks that call the function, or pass: in the others, the forward pass failed."""
        return (i for i, check in enumerate(self.checks) if check.passed or i in self.failed)

    def says_nothing(self, index: int) -> bool:
        """Return whether a check passes with answers that the solution does not give: its tolerance is large."""
        return self.checks[index].passed and self.outcome((), index).match is not Match.EXACT

    def are_distinctive(self, failed: Iterable[int]) -> bool:
        """Return whether the wrong numbers of failed checks together match nothing by chance."""
        counts = (self._count_wrong(index, (), matching.WEIGHT_OF_INTEGERS) for index in failed)
        return sum(counts) >= matching.MIN_DISTINCTIVE

    @cached_property
    def first_distinctive(self) -> int | None:
        """The first failed check with wrong numbers that nothing matches by chance."""
        return next((index for index in self.failed if self.is_distinctive(index)), None)

    def contradicts(self, mistakes: Combination, indices: Iterable[int] | None = None) -> bool:
        """Return whether they are wrong where the student is right: in a check that passes, or in a part of another.

        Without `indices`, all comparable checks are looked at.
        """
        for index in self.comparable() if indices is None else indices:
            outcome = self.outcome(mistakes, index)
            if self.checks[index].passed:
                if outcome.match is not Match.EXACT and not self.says_nothing(index):
                    return True
            elif outcome.contradicts:
                return True
        return False

    def is_distinctive(self, index: int, names: Sequence[str] = ()) -> bool:
        """Return whether the wrong numbers of a check, or of the parts with these names, match nothing by chance."""
        return self._count_wrong(index, names) >= matching.MIN_DISTINCTIVE

    def _count_wrong(self, index: int, names: Sequence[str], weight_of_integers: float = 0) -> float:
        call, right = self.last_call(index), self.correct_answer(index)
        if call.exception is not None or right.exception is not None:
            return 0
        parts = parts_of(call, right, right) or [Part("", call.value, right.value, right.value)]
        shown = (part for part in parts if not names or part.name in names)
        counts = (matching.count_wrong(part.student, part.right, is_coarse(call), weight_of_integers) for part in shown)
        return max(counts, default=0)

    def outcome(self, mistakes: Combination, index: int) -> Outcome:
        """Return how the answers of a check match those of the solution with these mistakes, or with none."""
        key = (mistakes, index)
        if key not in self._outcomes:
            try:
                wrong = (
                    module_with_mistakes(*mistakes, package=self.package, of_module=self.module) if mistakes else None
                )
            except BrokenMistake:
                self._outcomes[key] = Outcome(Match.NO)  # Both mistakes edit the same line.
            else:
                answers = replay(self.checks[index], wrong, self.package)
                self._outcomes[key] = self.outcome_of_answers(answers, index, in_parts=bool(mistakes))
        return self._outcomes[key]

    def outcome_of_answers(
        self, answers: Iterable[tuple[Call, Answer]], index: int, *, in_parts: bool = True
    ) -> Outcome:
        """Return how the answers of a check match those of a candidate to its calls."""
        check = self.checks[index]
        match = Match.EXACT
        for call, answer in answers:
            if call.function.qualified == self.function:
                official = self.correct_answer(index) if call is self.last_call(index) and call.exception else None
                own = match_answer(call, answer, check.passed, self.package, official)
                is_allowed = official is not None and official.exception is None
                match = min(match, Match.EXACT if is_allowed and self._is_same_refusal(call, answer) else own)
                if match is Match.NO:
                    is_failure = not check.passed and call is self.last_call(index)
                    return self._outcome_in_parts(index, answer) if is_failure and in_parts else matching.NOT_COMPARABLE
        return Outcome(match)

    def _is_same_refusal(self, call: Call, answer: Answer) -> bool:
        """Return whether an input is refused with the errors with which both refuse others that are wrong."""
        errors = (call.exception, answer.exception)
        wrong = (index for index, check in enumerate(self.checks) if check.passed and None not in errors)
        pairs = ((self.last_call(index).exception, self.correct_answer(index).exception) for index in wrong)
        return any(all(map(is_same_refusal, errors, pair)) for pair in pairs)

    def _outcome_in_parts(self, index: int, answer: Answer) -> Outcome:
        call = self.last_call(index)
        if call.exception is not None:
            return Outcome(Match.NO)
        if answer.exception is not None:  # If the solution raises one, too, the student forgot to: another mistake.
            return matching.NOT_COMPARABLE if self.correct_answer(index).exception is None else Outcome(Match.NO)
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


class Search:
    """A search for the mistakes that explain the checks of one function.

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
        self.compared = Comparisons(function, checks, package)
        self._is_cancelled = is_cancelled
        self._final_deadline = self._last_deadline = self._deadline = interpreter.cpu_seconds() + seconds

    def end_after(self, seconds: float) -> None:
        """Leave at most so much time for everything that follows, whatever earlier calls have left."""
        self._last_deadline = self._deadline = min(self._final_deadline, interpreter.cpu_seconds() + seconds)

    def begin_phase(self, seconds: float) -> None:
        """Leave at most so much time for what follows."""
        self._deadline = min(self._last_deadline, interpreter.cpu_seconds() + seconds)

    @property
    def is_out_of_time(self) -> bool:
        """Return whether the time is up; raise Cancelled if the search was cancelled."""
        if self._is_cancelled():
            raise Cancelled
        return interpreter.cpu_seconds() > self._deadline

    def explain_all(self, candidates: Iterable[Mistake], *, first_only: bool = False) -> dict[str, Diagnosis]:
        """Diagnose by the candidates that alone give the student's answers in all checks, or by the first of them.

        Families are left out: their constant is not known.
        """
        explanations: list[Mistake] = []
        for mistake in (candidate for candidate in candidates if candidate.constant is None):
            if explanations and first_only:
                break
            if self.is_out_of_time:
                return {}  # All of several indistinguishable mistakes must be named, or none.
            if self._explains_all((mistake,)):
                explanations.append(mistake)
        return self._assign(tuple(explanations))

    def _assign(self, mistakes: Combination, *, together: bool = False) -> dict[str, Diagnosis]:
        failed = [self.compared.checks[index] for index in self.compared.failed]
        return assign(failed, Diagnosis(mistakes, together)) if mistakes else {}

    def _explains_all(self, mistakes: Combination) -> bool:
        """Return whether mistakes that are made together give the student's answers in all checks."""
        return self._is_evidence(self.compared.failed) and all(
            self.compared.outcome(mistakes, index).match is Match.EXACT or self.compared.says_nothing(index)
            for index in self.compared.comparable()
        )

    def _is_evidence(self, failed: Sequence[int]) -> bool:
        """Return whether what a mistake repeats in failed checks is more than an exception that any code may raise.

        Numbers are, and messages that few lines can cause, and right answers in other checks.
        """
        if any(check.passed and check.calls[-1].exception is None for check in self.compared.checks):
            return True
        errors = [self.compared.last_call(index).exception for index in failed]
        return any(error is None or not _ANY_CODE.search(error.message) for error in errors) or any(
            self.compared.correct_answer(index).exception is not None for index in failed
        )

    def explain_together(self, singles: Sequence[Mistake], *, likely_only: bool = False) -> dict[str, Diagnosis]:
        """Diagnose by two or three mistakes that explain all checks together, unless there are several such sets.

        Only answers with several different wrong numbers prove so much. `likely_only` limits the search to pairs of
        mistakes that explain something by themselves or are common.
        """
        if self.compared.first_distinctive is None:
            return {}
        leads = self._leads(singles)
        if not leads:
            self.begin_phase(SECONDS_WITHOUT_LEADS)
        common = [mistake for mistake in singles if mistake.common and self._is_possible(mistake)]
        rest = self._rest(leads, singles)
        likely = (combinations(leads, 2), islice(combinations(common, 2), MAX_PAIRS), product(leads[:MAX_LEADS], rest))
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
                return self._assign_sets(sets) if len(titles) <= MAX_ALTERNATIVES else {}
        return {}

    def _assign_sets(self, sets: Sequence[Combination]) -> dict[str, Diagnosis]:
        """Diagnose by the first set; if the only other one differs in one mistake, that is named as an alternative."""
        titles = {mistake.title for mistake in sets[0]}
        new = [mistake.title for mistake in sets[-1] if len(sets) == 2 and mistake.title not in titles]
        kept = sets[-1] if len(new) == 1 else sets[0]
        named = (m if m in kept else replace(m, title=f"either {m.title}, or {new[0]}") for m in sets[0])
        return self._assign(tuple(named), together=True)

    def _explaining(self, candidates: Iterable[Combination], *, first_only: bool = False) -> list[Combination]:
        found: list[Combination] = []
        for mistakes in candidates:
            if self.is_out_of_time or (first_only and found and keeps_all_edits(found[-1], self.compared.package)):
                break
            if self._explains_all(mistakes):
                found.append(mistakes)
        # A mistake that is made only in part may claim more than is wrong: halves have names of their own.
        return [mistakes for mistakes in found if keeps_all_edits(mistakes, self.compared.package)] or found

    def explain_with_change(
        self, singles: Sequence[Mistake], changes: Sequence[Mistake], of_solution: Sequence[Mistake]
    ) -> dict[str, Diagnosis]:
        """Diagnose by a mistake that explains something and a change of the solution, or by two other changes."""
        if not self.compared.are_distinctive(self.compared.failed):
            return {}
        is_distinctive = self.compared.first_distinctive is not None
        known = self._leads(singles)[:MAX_LEADS] if is_distinctive else []
        sets = self._explaining(product(known, of_solution), first_only=True)
        leads = self._leads(changes, self.compared.failed[:1]) if not sets else []
        any_two = ((first, second) for number, second in enumerate(changes) for first in changes[:number])
        unlikely = islice(any_two, MAX_UNLIKELY_PAIRS if is_distinctive else 0)
        pairs = chain(combinations(leads, 2), product(leads[:MAX_LEADS], changes), unlikely)
        sets = sets or self._explaining(pairs, first_only=True)
        for mistake in sets[0] if sets else ():  # What each of them does not explain alone must be enough.
            rest = [i for i in self.compared.failed if self.compared.outcome((mistake,), i).match is not Match.EXACT]
            if not self.compared.are_distinctive(rest):
                return {}
        return self._assign_sets(sets) if sets else {}

    def explain_each(self, singles: Sequence[Mistake], *, with_pairs: bool = True) -> dict[str, Diagnosis]:
        """Return, by failed check, the candidates that give its answer, contradict nothing and explain the most."""
        explained: dict[int, dict[Combination, Outcome]] = {}
        candidates = [(single,) for single in singles if self._is_own((single,)) or self._explains_something(single)]
        for index in self.compared.failed:
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
            ranks = {mistakes: self._rank(mistakes, matches[mistakes], counts[mistakes]) for mistakes in matches}
            best = [mistakes for mistakes in matches if ranks[mistakes] == max(ranks.values())]
            if not best or (doubtful and not self._is_certain(index, matches[best[0]])):
                continue
            titles = {tuple(mistake.title for mistake in mistakes) for mistakes in best}
            if len(titles) <= self._max_alternatives(index, counts[best[0]]):
                diagnosis = self._describe(best, matches[best[0]], counts[best[0]])
                diagnoses |= assign([self.compared.checks[index]], diagnosis)
        return diagnoses

    def _is_own(self, mistakes: Combination) -> bool:
        return all(mistake.function == self.compared.function for mistake in mistakes)

    def _rank(self, mistakes: Combination, outcome: Outcome, count: int) -> tuple[Any, ...]:
        """Return a key for mistakes that explain `count` failed checks, which is larger for better explanations."""
        complete = outcome.match > Match.IN_PART
        explained = (complete, not outcome.affects_remaining, count, outcome.match, -len(outcome.remaining))
        is_known = not any(mistake.generated or mistake.fitted for mistake in mistakes)
        return (*explained, self._is_own(mistakes), is_known)

    def _describe(self, best: list[Combination], outcome: Outcome, count: int) -> Diagnosis:
        together = len(best[0]) > 1
        return Diagnosis(
            best[0] if together else tuple(mistakes[0] for mistakes in best),
            together=together,
            here_only=count < sum(not check.passed for check in self.compared.checks),
            parts=outcome.explained,
            up_to_dtype=outcome.match is Match.UP_TO_DTYPE,
        )

    def _add_pairs(self, explained: dict[int, dict[Combination, Outcome]], singles: Sequence[Mistake]) -> None:
        """Add pairs that explain checks completely which single mistakes do not."""
        for index, matches in explained.items():
            is_explained = any(outcome.match > Match.IN_PART for outcome in matches.values())
            if is_explained or not self.compared.is_distinctive(index):
                continue
            leads = self._leads(singles)
            for pair in chain(combinations(leads, 2), product(leads, self._rest(leads, singles))):
                if self.is_out_of_time:
                    return
                outcome = self.compared.outcome(pair, index)
                if outcome.match is Match.EXACT and not self.compared.contradicts(pair):
                    matches[pair] = outcome

    def _is_certain(self, index: int, outcome: Outcome) -> bool:
        """Return whether an explanation needs no others beside it: its numbers and sizes say enough."""
        call = self.compared.last_call(index)
        return self.compared.is_distinctive(index, outcome.explained) and matching.has_different_sizes(call)

    def _is_unexplained(self, index: int, matches: dict[Combination, Outcome]) -> bool:
        """Return whether nothing explains a wrong answer; an exception and a wrong dtype need no explanation."""
        raised = self.compared.last_call(index).exception is not None
        return not matches and not raised and self.compared.outcome((), index).match is Match.NO

    def _max_alternatives(self, index: int, count: int) -> int:
        """Return how many alternatives may be reported for a failed check, if each explains `count` failed checks.

        Wrong numbers distinguish mistakes better than exceptions and nan do, in which many mistakes end.
        """
        call = self.compared.last_call(index)
        if call.exception is not None:
            return 0 if "out of bounds" in call.exception.message and count == 1 else 1
        right = self.compared.correct_answer(index)
        return MAX_ALTERNATIVES if matching.has_finite_error(call.value, right.value) else 1

    def _matching(self, candidates: Sequence[Combination], index: int) -> dict[Combination, Outcome] | None:
        """Return the candidates that explain one failed check; None if there was no time to try them all."""
        matches: dict[Combination, Outcome] = {}
        if self.compared.outcome((), index).match is Match.EXACT:
            return matches  # In float32, the error is too small to tell its cause.
        for mistakes in candidates:
            if self.is_out_of_time:
                return None
            outcome = self.compared.outcome(mistakes, index)
            # Without distinctive numbers, another function's mistake is one of many possible causes.
            if outcome.match is Match.NO or not (self._is_own(mistakes) or self.compared.is_distinctive(index)):
                continue
            if not self.compared.contradicts(mistakes):
                matches[mistakes] = outcome
        dtype_is_wrong = any(outcome.match is Match.UP_TO_DTYPE for outcome in matches.values())
        if dtype_is_wrong and self.compared.outcome((), index).match is not Match.NO:
            # Only the dtype is wrong: a mistake without effect on this check gives these values, too.
            return {mistakes: outcome for mistakes, outcome in matches.items() if outcome.match is Match.EXACT}
        return matches

    def explains_most(self, mistake: Mistake) -> bool:
        """Return whether a mistake explains more than half of the failed checks, at least two, and all wrong numbers.

        A number that fits only some inputs is not what was written: an argument that was used wrongly gives such fits.
        """
        outcomes = {index: self.compared.outcome((mistake,), index) for index in self.compared.failed}
        count = sum(outcome.match > Match.IN_PART for outcome in outcomes.values())
        unexplained = (index for index, outcome in outcomes.items() if outcome.match is Match.NO)
        is_general = not any(self._is_unexplained(index, {}) for index in unexplained)
        return count >= 2 and 2 * count > len(outcomes) and is_general

    def _leads(self, singles: Sequence[Mistake], indices: Sequence[int] = ()) -> list[Mistake]:
        """Return the mistakes that explain something by themselves, as far as there is time."""
        in_time = (single for single in singles if not self.is_out_of_time)
        explaining = (single for single in in_time if self._explains_something(single, indices))
        return [mistake for mistake in explaining if not self.compared.contradicts((mistake,))]

    def _rest(self, leads: Sequence[Mistake], singles: Sequence[Mistake]) -> list[Mistake]:
        """Return the other mistakes that are possible, as far as there is time."""
        others = (mistake for mistake in singles if mistake not in leads)
        return [mistake for mistake in others if not self.is_out_of_time and self._is_possible(mistake)]

    def _is_possible(self, mistake: Mistake) -> bool:
        """Return whether nothing contradicts a mistake in the first checks of either kind."""
        passed = [index for index, check in enumerate(self.compared.checks) if check.passed]
        return not self.compared.contradicts((mistake,), [*self.compared.failed[:FIRST], *passed[:FIRST]])

    def _explains_something(self, mistake: Mistake, indices: Sequence[int] = ()) -> bool:
        """Return whether a mistake explains something in the first failed checks; of another function, in one."""
        indices = indices or self.compared.failed[:FIRST]
        if not self._is_own((mistake,)) and self.compared.first_distinctive is not None:
            indices = [self.compared.first_distinctive]
        outcomes = (self.compared.outcome((mistake,), index) for index in indices)
        return any(outcome.match is not Match.NO or outcome.explained for outcome in outcomes)


def assign(checks: Iterable[RecordedCheck], diagnosis: Diagnosis) -> dict[str, Diagnosis]:
    """Return the diagnosis for each of the checks, which are of one function."""
    return {
        check.id: replace(diagnosis, raised=check.calls[-1].exception is not None, function=check.id.partition("::")[0])
        for check in checks
    }

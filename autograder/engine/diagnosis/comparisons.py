"""How the answers of candidates match the student's in the checks of one function."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from autograder.engine.diagnosis import matching
from autograder.engine.diagnosis.matching import Match, Outcome, Part, is_coarse, match_answer, match_parts, parts_of
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake
from autograder.engine.diagnosis.replay import Answer, correct_answer, replay, same_modified
from autograder.engine.diagnosis.variants import module_with_mistakes
from autograder.engine.student import Call, RecordedCheck

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

    @property
    def has_distinctive_answers(self) -> bool:
        """Return whether the wrong numbers of all failed checks together match nothing by chance."""
        return (
            sum(self._count_wrong(index, (), matching.WEIGHT_OF_INTEGERS) for index in self.failed)
            >= matching.MIN_DISTINCTIVE
        )

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
                match = min(match, match_answer(call, answer, check.passed, self.package, official))
                if match is Match.NO:
                    is_failure = not check.passed and call is self.last_call(index)
                    return self._outcome_in_parts(index, answer) if is_failure and in_parts else matching.NOT_COMPARABLE
        return Outcome(match)

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

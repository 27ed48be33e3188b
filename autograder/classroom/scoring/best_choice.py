"""Choose what helps a student most: which assignments are dropped, and which late days the bank pays for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

_TINY = 1e-12


@dataclass(frozen=True)
class Candidate:
    """An assignment that can count: its weight, which is positive, and its share of the points.

    The share depends on how many of its late days the bank pays for; each number of days that is allowed has one.
    """

    weight: float
    shares: Mapping[int, float]


@dataclass(frozen=True)
class Choice:
    """What counts of the candidates, or of the first of them."""

    weight: float = 0.0  # of the assignments that count, together
    points: float = 0.0  # the sum of their shares, each times its weight
    # The days that the bank pays for, which are not late, by the position of each assignment that is not dropped.
    bank_days: Mapping[int, int] = field(default_factory=dict)
    replaced: int | None = None  # the assignment that has the share of the final instead of its own

    @property
    def average(self) -> float:
        """The weighted average of the shares that count."""
        return self.points / self.weight

    def rank(self, average: float) -> tuple[object, ...]:
        """Return what is compared, of choices that try to raise an average: the larger is better."""
        gain, days = round(self.points - average * self.weight, 9), sum(self.bank_days.values())
        return gain, self.weight, -days, self.replaced is None, [-at for at in self.bank_days]


def best_choice(candidates: Sequence[Candidate], drops: int = 0, bank: int = 0, final: int | None = None) -> Choice:
    """Return the choice with the highest weighted average share: `drops` assignments do not count, but one always does.

    The bank pays for at most `bank` days in all. `final` is the position of an assignment that is never dropped, and
    whose share replaces that of one other assignment. Of choices that are equally good, one with the largest total
    weight is taken, and then with the fewest days.
    """
    alternatives = [candidates]
    if final is not None:  # for each share that it can have
        shares = ({days: share} for days, share in candidates[final].shares.items() if days <= bank)
        finals = (replace(candidates[final], shares=share) for share in shares)
        alternatives = [[*candidates[:final], fixed, *candidates[final + 1 :]] for fixed in finals]
    choices = (_highest_average(listed, drops, bank, final) for listed in alternatives)
    return max(choices, key=lambda choice: (round(choice.average, 9), -sum(choice.bank_days.values())))


def _highest_average(candidates: Sequence[Candidate], drops: int, bank: int, final: int | None) -> Choice:
    """Return the best choice for one share of the final.

    The lowest share is not always the one to drop: 0.5 with a weight of 10 may lower the average more than 0.4 with a
    weight of 1. For an average that is tried, the best choice has the largest sum of `weight × (share − average)`,
    because that is what each assignment adds above it. Its own average is the next to try, and the first that cannot be
    raised is the highest of all (Dinkelbach, "On Nonlinear Fractional Programming", 1967).
    """
    average = -1.0
    while True:
        choice = _largest_gain(candidates, min(max(0, drops), len(candidates) - 1), bank, final, average)
        if choice.average <= average + _TINY:
            return choice
        average = choice.average


def _largest_gain(candidates: Sequence[Candidate], drops: int, bank: int, final: int | None, average: float) -> Choice:
    """Return the choice with the largest gain over an average, candidate by candidate (dynamic programming)."""
    best = {(0, 0, False): Choice()}  # by the days and drops that are used, and whether an assignment is replaced
    for at, candidate in enumerate(candidates):
        longer: dict[tuple[int, int, bool], Choice] = {}
        for (used, dropped, is_replaced), choice in best.items():
            extended = []
            if dropped < drops and at != final:
                extended.append(((used, dropped + 1, is_replaced), choice))
            options = [(days, share, choice.replaced) for days, share in candidate.shares.items()]
            if final is not None and final != at and not is_replaced:
                (final_share,) = candidates[final].shares.values()
                options.append((min(candidate.shares), final_share, at))
            for days, share, replaced in options:
                if used + days <= bank:
                    weight, points = choice.weight + candidate.weight, choice.points + candidate.weight * share
                    one = Choice(weight, points, {**choice.bank_days, at: days}, replaced)
                    extended.append(((used + days, dropped, replaced is not None), one))
            for key, one in extended:
                if key not in longer or one.rank(average) > longer[key].rank(average):
                    longer[key] = one
        best = longer
    return max((one for (_, dropped, _), one in best.items() if dropped == drops), key=lambda one: one.rank(average))

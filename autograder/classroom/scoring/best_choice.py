"""Choose what helps a student most: which assignments are dropped, and which late days the bank pays for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """What counts, by the position of the candidate; days that the bank pays for an assignment are not late."""

    average: float  # the weighted average of the shares that count
    bank_days: dict[int, int]  # of each assignment that is not dropped
    replaced: int | None = None  # the assignment that has the share of the final instead of its own


def best_choice(candidates: Sequence[Candidate], drops: int = 0, bank: int = 0, final: int | None = None) -> Choice:
    """Return the choice with the highest weighted average share: `drops` assignments do not count, but one always does.

    The bank pays for at most `bank` days in all. `final` is the position of an assignment that is never dropped, and
    whose share replaces that of one other assignment. Of choices that are equally good, one with the largest total
    weight is taken, and then with the fewest days.
    """
    if final is None:
        return _highest_average(candidates, drops, bank, None, 0.0)
    choices = []
    for days, share in candidates[final].shares.items():
        if days > bank:
            break
        fixed = [*candidates[:final], Candidate(candidates[final].weight, {days: share}), *candidates[final + 1 :]]
        choices.append(_highest_average(fixed, drops, bank, final, share))
    return max(choices, key=lambda choice: (round(choice.average, 9), -sum(choice.bank_days.values())))


def _highest_average(
    candidates: Sequence[Candidate], drops: int, bank: int, final: int | None, final_share: float
) -> Choice:
    """Return the best choice for one share of the final.

    The lowest share is not always the one to drop: 0.5 with a weight of 10 may lower the average more than 0.4 with a
    weight of 1. For an average that is tried, the best choice has the largest sum of `weight × (share − average)`,
    because that is what each assignment adds above it. Its own average is the next to try, and the first that cannot be
    raised is the highest of all (Dinkelbach, "On Nonlinear Fractional Programming", 1967).
    """
    average = -1.0
    while True:
        choice = _largest_gain(candidates, min(max(0, drops), len(candidates) - 1), bank, final, final_share, average)
        if choice.average <= average + _TINY:
            return choice
        average = choice.average


@dataclass(frozen=True)
class _Partial:
    """A choice for the first candidates."""

    gain: float = 0.0
    weight: float = 0.0
    points: float = 0.0
    bank_days: tuple[tuple[int, int], ...] = ()  # position and days of each assignment that is not dropped
    replaced: int | None = None

    def rank(self) -> tuple[object, ...]:
        """Return what is compared: the larger is better."""
        days = sum(days for _, days in self.bank_days)
        return round(self.gain, 9), self.weight, -days, self.replaced is None, [-at for at, _ in self.bank_days]


def _largest_gain(
    candidates: Sequence[Candidate], drops: int, bank: int, final: int | None, final_share: float, average: float
) -> Choice:
    """Return the choice with the largest gain over an average, candidate by candidate (dynamic programming)."""
    best = {(0, 0, False): _Partial()}  # by the days and drops that are used, and whether an assignment is replaced
    for at, candidate in enumerate(candidates):
        longer: dict[tuple[int, int, bool], _Partial] = {}
        for (used, dropped, replaced), partial in best.items():
            extended = []
            if dropped < drops and at != final:
                extended.append(((used, dropped + 1, replaced), partial))
            options = [(days, share, partial.replaced) for days, share in candidate.shares.items()]
            if final not in (None, at) and not replaced:
                options.append((min(candidate.shares), final_share, at))
            for days, share, one_replaced in options:
                if used + days <= bank:
                    weight, gain = candidate.weight, candidate.weight * (share - average)
                    key = (used + days, dropped, one_replaced is not None)
                    extended.append((key, _Partial(
                        partial.gain + gain, partial.weight + weight, partial.points + weight * share,
                        (*partial.bank_days, (at, days)), one_replaced,
                    )))  # fmt: skip
            for key, one in extended:
                if key not in longer or one.rank() > longer[key].rank():
                    longer[key] = one
        best = longer
    found = max((one for (_, dropped, _), one in best.items() if dropped == drops), key=_Partial.rank)
    return Choice(found.points / found.weight, dict(found.bank_days), found.replaced)

"""Choose the assignments that are dropped: those whose removal gives a student the best percentage."""

from collections.abc import Sequence

_TINY = 1e-12


def kept_assignments(assignments: Sequence[tuple[float, float]], drops: int) -> list[int]:
    """Return the positions of the assignments that stay after `drops` of them are dropped, in order.

    An assignment is a pair of its weight, which is positive, and the share of its points that the student has. Those
    that stay have the highest weighted average share; where several choices have it, one of the largest total weight.
    At least one assignment stays.

    The lowest share is not always the one to drop: 0.5 with a weight of 10 may lower the average more than 0.4 with a
    weight of 1. For an average that is tried, the best choice consists of the assignments with the largest
    `weight × (share − average)`, because that is what each adds above it. Its own average is the next to try, and the
    first that cannot be raised is the highest of all (Dinkelbach, "On Nonlinear Fractional Programming", 1967).
    """
    count = max(1, len(assignments) - max(0, drops))
    kept = list(range(len(assignments)))
    if count >= len(kept):
        return kept
    average = _average(assignments, kept)
    while True:

        def gain(index: int, average: float = average) -> tuple[float, float, int]:
            weight, share = assignments[index]
            return round(weight * (share - average), 9), weight, -index

        choice = sorted(range(len(assignments)), key=gain, reverse=True)[:count]
        raised = _average(assignments, choice)
        if len(kept) == count and raised <= average + _TINY:
            return sorted(kept)
        kept, average = choice, max(raised, average)


def _average(assignments: Sequence[tuple[float, float]], chosen: Sequence[int]) -> float:
    return sum(assignments[index][0] * assignments[index][1] for index in chosen) / sum(
        assignments[index][0] for index in chosen
    )

"""What counts for a student: no other choice of drops, late days and a replacement gives a better percentage."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.classroom.scoring.best_choice import Candidate, best_choice

WEIGHTS = st.one_of(st.integers(1, 5).map(float), st.floats(0.01, 100.0))
SHARES = st.one_of(st.sampled_from((0.0, 0.5, 1.0)), st.floats(0.0, 1.3))
CANDIDATES = st.builds(
    lambda weight, shares: Candidate(weight, dict(enumerate(sorted(shares)))),
    WEIGHTS, st.lists(SHARES, min_size=1, max_size=3),
)  # fmt: skip


def all_averages(candidates, drops, bank, final):
    """Yield the average of each choice that is allowed."""
    for days in itertools.product(*(candidate.shares for candidate in candidates)):
        if sum(days) > bank:
            continue
        shares = [candidate.shares[one] for candidate, one in zip(candidates, days, strict=True)]
        for replaced in (None, *range(len(candidates))) if final is not None else (None,):
            counted = [shares[final] if at == replaced else share for at, share in enumerate(shares)]
            for kept in itertools.combinations(range(len(candidates)), max(1, len(candidates) - drops)):
                if final is None or final in kept:
                    points = sum(candidates[at].weight * counted[at] for at in kept)
                    yield points / sum(candidates[at].weight for at in kept)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # A busy machine may be slow.
@given(st.lists(CANDIDATES, min_size=1, max_size=4), st.integers(0, 4), st.integers(0, 4), st.data())
def test_best_choice_has_the_best_average(candidates, drops, bank, data):
    final = data.draw(st.sampled_from((None, *range(len(candidates)))))
    choice = best_choice(candidates, drops, bank, final)
    assert len(choice.bank_days) == max(1, len(candidates) - drops)
    assert sum(choice.bank_days.values()) <= bank
    assert choice.average == pytest.approx(max(all_averages(candidates, drops, bank, final)), abs=1e-9)


def kept(*assignments, drops):
    return [*best_choice([Candidate(weight, {0: share}) for weight, share in assignments], drops).bank_days]


def test_best_choice_keeps_the_heaviest_only_of_equal_shares():
    # The lowest share is that of the last one; without the first, the average is higher.
    assert kept((10.0, 0.5), (10.0, 1.0), (1.0, 0.4), drops=1) == [1, 2]
    assert kept((1.0, 0.0), (3.0, 0.0), (2.0, 0.0), drops=2) == [1]
    assert kept((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), drops=1) == [0, 1]


def test_best_choice_takes_no_day_that_helps_nothing():
    late = Candidate(1.0, {0: 0.5, 1: 0.5, 2: 0.75})
    assert best_choice([late, late], bank=3).bank_days == {0: 0, 1: 2}


@pytest.mark.parametrize(("final", "bank", "days", "average"), [
    ({0: 0.5, 1: 0.75}, 0, 0, 0.5), ({0: 0.5, 1: 0.75}, 1, 1, 0.75), ({1: 0.5, 0: 0.5}, 1, 0, 0.5)
])  # fmt: skip
def test_best_choice_pays_for_late_days_of_the_final_that_replaces(final, bank, days, average):
    choice = best_choice([Candidate(1.0, {0: 0.2, 1: 0.3}), Candidate(3.0, final)], bank=bank, final=1)
    assert (choice.bank_days, choice.replaced, choice.average) == ({0: 0, 1: days}, 0, average)

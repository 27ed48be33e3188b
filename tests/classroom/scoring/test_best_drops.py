"""The assignments that are dropped: no other choice gives a student a better percentage."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.classroom.scoring.student_scores import kept_assignments

WEIGHTS = st.one_of(st.integers(1, 5).map(float), st.floats(0.01, 100.0))
SHARES = st.one_of(st.sampled_from((0.0, 0.5, 1.0)), st.floats(0.0, 1.3))


def average(assignments, kept):
    return sum(assignments[i][0] * assignments[i][1] for i in kept) / sum(assignments[i][0] for i in kept)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # A busy machine may be slow.
@given(st.lists(st.tuples(WEIGHTS, SHARES), min_size=1, max_size=8), st.integers(0, 9))
def test_kept_assignments_have_the_best_average(assignments, drops):
    kept = kept_assignments(assignments, drops)
    assert len(kept) == max(1, len(assignments) - drops)
    # Dropping fewer never helps, so these are all choices that could be better.
    sizes = range(len(kept), len(assignments) + 1)
    choices = (choice for size in sizes for choice in itertools.combinations(range(len(assignments)), size))
    best = max(average(assignments, choice) for choice in choices)
    assert average(assignments, kept) == pytest.approx(best, abs=1e-9)


def test_kept_assignments_heavier_one_may_be_dropped():
    # The lowest share is that of the last one; without the first, the average is higher.
    assert kept_assignments([(10.0, 0.5), (10.0, 1.0), (1.0, 0.4)], 1) == [1, 2]


def test_kept_assignments_equal_shares_keep_the_heaviest():
    assert kept_assignments([(1.0, 0.0), (3.0, 0.0), (2.0, 0.0)], 2) == [1]
    assert kept_assignments([(1.0, 1.0), (1.0, 1.0), (1.0, 1.0)], 1) == [0, 1]

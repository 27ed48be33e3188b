"""Checks of pooling."""

import pytest

from autograder.engine.fixtures import Agree
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded


@graded("pooling.weighted_mean", points=2)
def test_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix"""
    agree(draw.normal(4, 3), draw.normal(4))


@graded("pooling.weighted_mean")
def test_large_scores(agree: Agree, draw: RandomInputs) -> None:
    """Scores far from 0"""
    agree(draw.normal(5, 2), draw.normal(5) + 1000.0)


@graded("pooling.causal_count")
def test_counts(agree: Agree, draw: RandomInputs) -> None:
    """Positions of a sequence"""
    agree(draw.normal(6, 2))


@graded("pooling.causal_count")
def test_one_position(agree: Agree, draw: RandomInputs) -> None:
    """A single position"""
    agree(draw.normal(1, 3))

"""Checks of assignment 1: mean and variance."""

import numpy as np
import pytest

from autograder.engine.fixtures import Agree
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded


@graded("averages.mean_of")
def test_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix"""
    agree(draw.normal(4, 7))


@graded("averages.mean_of")
def test_row(agree: Agree, draw: RandomInputs) -> None:
    """A single row, far from 0"""
    agree(draw.normal(6) + 1000.0)


@graded("averages.variance", points=2)
def test_spread(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix"""
    agree(draw.normal(4, 7))


@graded("averages.variance")
def test_same_numbers(agree: Agree) -> None:
    """Equal numbers do not vary"""
    agree(np.full((2, 5), 3.0))

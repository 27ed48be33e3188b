"""Checks of finetuning. Each one is a pytest test with the mark `graded`; its docstring is its title in reports.

Replace them. The arguments are fixtures (autograder/engine/fixtures.py):

    draw        random inputs: the same for every student, but different ones when a class is graded
    agree       calls the student's function and the reference, and compares what they return
    unmodified  calls the student's function and checks that its inputs stay as they are
    refuses     calls the student's function, which must raise an exception
"""

import pytest

from autograder.engine.fixtures import Agree, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded


@graded("finetuning.finetuning", points=2)
def test_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix"""
    agree(draw.normal(4, 7))


@graded("finetuning.finetuning")
def test_far_from_zero(agree: Agree, draw: RandomInputs) -> None:
    """A single row, far from 0"""
    agree(draw.normal(1, 6) + 1000.0)


# A check that compares no values, such as this one, earns points only if another check of the function passes.
@graded("finetuning.finetuning")
def test_input_stays_as_it_is(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.normal(3, 5))

"""Checks of linear layers and their gradients."""

import numpy as np
import pytest

from autograder.engine.fixtures import Agree, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("ffn.linear")
def test_linear(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix, wide and square weights"""
    agree(draw.normal(4, 3), draw.normal(3, 5), draw.normal(5))
    agree(draw.normal(5, 5), draw.normal(5, 5), draw.normal(5))


@graded("ffn.linear")
def test_linear_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """A single vector, and 3-D and 4-D batches"""
    for shape in ((6,), (2, 4, 3), (2, 3, 4, 5), (1, 1, 3)):
        agree(draw.normal(*shape), draw.normal(shape[-1], 4), draw.normal(4))


@graded("ffn.linear")
def test_linear_without_bias(agree: Agree, draw: RandomInputs) -> None:
    """Without a bias"""
    agree(draw.normal(2, 4, 3), draw.normal(3, 5), None)


@graded("ffn.linear")
def test_linear_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(4, 3, dtype=FLOAT32), draw.normal(3, 5, dtype=FLOAT32), draw.normal(5, dtype=FLOAT32))
    agree(draw.normal(4, 3, dtype=FLOAT32), draw.normal(3, 5, dtype=FLOAT32), None)


@graded("ffn.linear")
def test_linear_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(4, 3), draw.normal(3, 5), draw.normal(5))


@graded("ffn.linear_backward")
def test_linear_gradient(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix, wide and square weights"""
    agree(draw.normal(4, 5), draw.normal(4, 3), draw.normal(3, 5))
    agree(draw.normal(5, 5), draw.normal(5, 5), draw.normal(5, 5))


@graded("ffn.linear_backward")
def test_linear_gradient_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """Weights and bias: the sum over all leading axes"""
    for batch in ((2, 4), (2, 3, 4), (1, 1)):
        agree(draw.normal(*batch, 5), draw.normal(*batch, 3), draw.normal(3, 5))


@graded("ffn.linear_backward")
def test_linear_gradient_vector(agree: Agree, draw: RandomInputs) -> None:
    """A single vector"""
    agree(draw.normal(5), draw.normal(3), draw.normal(3, 5))


@graded("ffn.linear_backward")
def test_linear_gradient_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(4, 5, dtype=FLOAT32), draw.normal(4, 3, dtype=FLOAT32), draw.normal(3, 5, dtype=FLOAT32))


@graded("ffn.linear_backward")
def test_linear_gradient_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(4, 5), draw.normal(4, 3), draw.normal(3, 5))

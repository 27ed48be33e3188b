"""Checks of ReLU, GELU and their gradients."""

import numpy as np
import pytest

from autograder.engine.fixtures import Agree, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32
ACTIVATIONS = "ffn.relu", "ffn.gelu"
GRADIENTS = "ffn.relu_backward", "ffn.gelu_backward"

# Far from 0 an activation returns x or 0, and a careless formula overflows.
FAR = np.array([-1000.0, -40.0, -8.0, -0.0, 0.0, 8.0, 40.0, 1000.0])


@graded("ffn.relu")
def test_relu(agree: Agree, draw: RandomInputs) -> None:
    """Positive, negative and 0, in any shape"""
    agree(draw.normal(6, scale=2))
    agree(draw.normal(2, 3, 4, scale=2))
    agree(FAR)


@graded("ffn.gelu")
def test_gelu(agree: Agree, draw: RandomInputs) -> None:
    """The tanh form, in any shape"""
    agree(draw.normal(6, scale=2))
    agree(draw.normal(2, 3, 4, scale=2))


@graded("ffn.gelu")
def test_gelu_extreme(agree: Agree) -> None:
    """Far from 0: the input or 0"""
    agree(FAR)


@graded(*ACTIVATIONS)
def test_activation_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(3, 5, scale=2, dtype=FLOAT32))
    agree(draw.integers(3, 5, low=-5, high=6))


@graded(*ACTIVATIONS, points=0.25)
def test_activation_small_integers(agree: Agree, draw: RandomInputs) -> None:
    """Integers of 8 bits: their cubes do not fit into 8 bits"""
    agree(draw.integers(3, 5, low=-8, high=9).astype(np.int8))


@graded(*ACTIVATIONS)
def test_activation_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.normal(3, 5))


@graded(*GRADIENTS)
def test_activation_gradient(agree: Agree, draw: RandomInputs) -> None:
    """A random upstream gradient, in any shape"""
    # The larger array comes first: a difference quotient is recognized only by six or more usable entries.
    agree(draw.normal(2, 3, 4), draw.normal(2, 3, 4, scale=2))
    agree(draw.normal(6), draw.normal(6, scale=2))


@graded("ffn.relu_backward")
def test_relu_gradient_at_zero(agree: Agree, draw: RandomInputs) -> None:
    """At exactly 0 the gradient is 0"""
    agree(draw.normal(2, 4), np.array([[0.0, 1.0, -1.0, -0.0], [0.0, 0.0, 2.0, 0.5]]))


@graded("ffn.gelu_backward")
def test_gelu_gradient_extreme(agree: Agree, draw: RandomInputs) -> None:
    """Far from 0: the slope is 1 or 0"""
    agree(draw.normal(8), FAR)


@graded(*GRADIENTS)
def test_activation_gradient_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(3, 5, dtype=FLOAT32), draw.normal(3, 5, scale=2, dtype=FLOAT32))


@graded(*GRADIENTS)
def test_activation_gradient_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 5), draw.normal(3, 5))

"""Checks of `softmax`: softmax and cross-entropy."""

import numpy as np
import pytest

from autograder.engine.comparison.compare import TOLERANCES, require_python
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.reference import Reference

graded = pytest.mark.graded
FLOAT32 = np.float32
FLOAT32_LOSS = TOLERANCES[np.dtype(FLOAT32)]


@graded("softmax.softmax")
def test_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix"""
    agree(draw.normal(4, 7, scale=3))


@graded("softmax.softmax")
def test_square(agree: Agree, draw: RandomInputs) -> None:
    """A square matrix, where rows and columns have the same length"""
    agree(draw.normal(5, 5, scale=3))


@graded("softmax.softmax")
def test_any_axis(agree: Agree, draw: RandomInputs) -> None:
    """Every axis of a 4-D array"""
    x = draw.normal(2, 3, 4, 5, scale=3)
    for axis in (0, 1, 2, -2, 3):
        agree(x, axis=axis)


@graded("softmax.softmax")
def test_vector(agree: Agree, draw: RandomInputs) -> None:
    """A single row; rows of length 1"""
    agree(draw.normal(6))
    agree(draw.normal(1))


@graded("softmax.softmax")
def test_extreme(agree: Agree, draw: RandomInputs) -> None:
    """Scores of ±1000"""
    agree(draw.normal(3, 5) + np.array([1000.0, -1000.0, 0.0])[:, None])
    agree(np.array([[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1000.0]]))


@graded("softmax.softmax")
def test_minus_infinity(agree: Agree, draw: RandomInputs) -> None:
    """-inf gets probability 0"""
    x = draw.normal(4, 6)
    x[:, ::2] = -np.inf
    agree(x)


@graded("softmax.softmax")
def test_temperature(agree: Agree, draw: RandomInputs) -> None:
    """Temperatures below and above 1"""
    x = draw.normal(3, 8, scale=2)
    agree(x, temperature=0.3)
    agree(x, temperature=7.0)
    agree(x, axis=0, temperature=2.5)
    agree(x, 1, 0.7)
    # The maximum has to be divided by the temperature as well; otherwise these overflow, or all become 0.
    agree(draw.normal(3, 5) + 1000.0, temperature=0.5)
    agree(draw.normal(3, 5) + 1000.0, temperature=7.0)


@graded("softmax.softmax")
def test_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(4, 9, dtype=FLOAT32))
    agree(draw.normal(4, 9, dtype=FLOAT32), temperature=0.5)
    agree(draw.integers(4, 9, low=-5, high=6))


@graded("softmax.softmax")
def test_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.normal(4, 5))
    unmodified(draw.normal(4, 5), axis=0, temperature=2.0)


@graded("softmax.softmax", points=0.25)
def test_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a negative temperature"""
    refuses(draw.normal(3, 4), temperature=-1.0)


@graded("softmax.softmax", points=0.25)
def test_errors_zero(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the temperature 0"""
    refuses(draw.normal(3, 4), temperature=0.0)


@graded("softmax.log_softmax")
def test_log_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix and of a 3-D array"""
    agree(draw.normal(4, 7, scale=3))
    agree(draw.normal(2, 3, 5))


@graded("softmax.log_softmax")
def test_log_any_axis(agree: Agree, draw: RandomInputs) -> None:
    """Every axis"""
    x = draw.normal(2, 3, 4, scale=3)
    for axis in (0, 1, -1):
        agree(x, axis=axis)


@graded("softmax.log_softmax")
def test_log_extreme(agree: Agree) -> None:
    """No overflow and no log of 0 at ±1000"""
    agree(np.array([[1000.0, 0.0, -1000.0], [0.0, 800.0, 0.0], [-1000.0, -1000.0, -999.0]]))


@graded("softmax.log_softmax")
def test_log_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(3, 5, dtype=FLOAT32))
    agree(draw.integers(3, 5, low=-5, high=6))


@graded("softmax.log_softmax")
def test_log_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.normal(3, 4))


@graded("softmax.cross_entropy", "softmax.cross_entropy_backward")
def test_loss_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix: the loss is their mean"""
    agree(draw.normal(6, 9, scale=2), draw.integers(6, high=9))


@graded("softmax.cross_entropy")
def test_loss_batch(agree: Agree, draw: RandomInputs) -> None:
    """Batch and position axes, and a single row"""
    agree(draw.normal(2, 3, 7), draw.integers(2, 3, high=7))
    agree(draw.normal(1, 5), draw.integers(1, high=5))


@graded("softmax.cross_entropy", "softmax.cross_entropy_backward")
def test_loss_confidently_wrong(agree: Agree) -> None:
    """Confidently wrong scores of about ±1000: nothing overflows"""
    agree(np.array([[1000.0, 0.0, -1000.0], [0.0, 0.0, 900.0]]), np.array([2, 0], np.int64))


@graded("softmax.cross_entropy")
def test_loss_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 and integer scores"""
    agree(draw.integers(4, 6, low=-3, high=4), draw.integers(4, high=6))
    # A Python float has no dtype, but this one was computed in float32, so float32's tolerance applies.
    agree(draw.normal(5, 6, dtype=FLOAT32), draw.integers(5, high=6), tolerance=FLOAT32_LOSS)


@graded("softmax.cross_entropy", points=0.25)
def test_loss_type(agree: Agree, draw: RandomInputs) -> None:
    """The loss is a Python float, not an array or a NumPy scalar"""
    require_python(agree(draw.normal(3, 4), draw.integers(3, high=4)), float, "the loss")


@graded("softmax.cross_entropy", "softmax.cross_entropy_backward")
def test_loss_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(4, 5), draw.integers(4, high=5))


@graded("softmax.softmax_backward")
def test_gradient(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """A random upstream gradient"""
    probs = reference.softmax.softmax(draw.normal(4, 7, scale=2))
    agree(draw.normal(4, 7), probs)


@graded("softmax.softmax_backward")
def test_gradient_any_axis(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """Every axis of a 3-D array, and the last one by default"""
    x, dout = draw.normal(2, 3, 4, scale=2), draw.normal(2, 3, 4)
    for axis in (0, 1, 2):
        agree(dout, reference.softmax.softmax(x, axis=axis), axis=axis)
    agree(dout, reference.softmax.softmax(x))


@graded("softmax.softmax_backward")
def test_gradient_float32(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """float32 stays float32"""
    probs = reference.softmax.softmax(draw.normal(3, 5, dtype=FLOAT32))
    agree(draw.normal(3, 5, dtype=FLOAT32), probs)


@graded("softmax.softmax_backward")
def test_gradient_inputs_kept(unmodified: Unmodified, reference: Reference, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 4), reference.softmax.softmax(draw.normal(3, 4)))


@graded("softmax.cross_entropy_backward")
def test_loss_gradient_batch(agree: Agree, draw: RandomInputs) -> None:
    """Batch and position axes; repeated targets"""
    agree(draw.normal(2, 3, 7), draw.integers(2, 3, high=7))
    agree(draw.normal(5, 4), np.array([1, 1, 1, 3, 1], np.int64))


@graded("softmax.cross_entropy_backward")
def test_loss_gradient_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(4, 5, dtype=FLOAT32), draw.integers(4, high=5))
    agree(draw.integers(4, 5, low=-3, high=4), draw.integers(4, high=5))

"""Checks of `layernorm`: layer normalization and the RMS norm."""

import numpy as np
import pytest

from autograder.engine.comparison.compare import Tolerance
from autograder.engine.fixtures import Agree, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32

# Scales the variance to about the default eps, 1e-5, so that the place and the size of eps matter.
SMALL = 2.0**-8

# Rows of equal entries: without eps they would be divided by 0.
FLAT = np.array([[5.0, 5.0, 5.0, 5.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [-0.5, -0.5, -0.5, -0.5, -0.5]])

# Far from 0, mean(x²) - mean(x)² loses the variance by cancellation. The entries are whole numbers within 9 of M = 2²⁰,
# so their sums and the sums of their squares are exact in any order of addition. Rounding affects the mean of the
# squares, about M² (by up to 2⁻¹⁴), and the square of the mean: the variance of about 30 is wrong by up to 10⁻⁴, and
# the result in its sixth digit. The mean itself is rounded by up to 2⁻³⁴, so even with squared distances the result is
# wrong by 10⁻¹⁰ · gamma / std < 10⁻¹⁰, more than the default floor of 10⁻¹² allows. There are seven features because
# division by a power of two would be exact, and eight rows because in one of seven the sum is a multiple of seven.
# Errors measured on 20,000 draws, in units of the tolerance: two passes, a running mean, and PyTorch at most 0.02; one
# pass at least 30.
FAR = 2.0**20
FROM_FAR = Tolerance(relative=1e-9, floor=1e-8)


def _far(draw: RandomInputs) -> Array:
    """Return rows around 2²⁰, (8, 7)."""
    return draw.integers(8, 7, low=-9, high=10) + FAR


def _gain(draw: RandomInputs, d: int) -> Array:
    """Return a gain with entries of both signs, most of them far from 1."""
    return draw.normal(d, scale=2)


@graded("layernorm.layernorm")
def test_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix, any gain and bias"""
    agree(draw.normal(5, 5), _gain(draw, 5), draw.normal(5))  # Without keepdims, only a square matrix gives numbers.
    agree(draw.normal(4, 7, scale=3) + 2.0, _gain(draw, 7), draw.normal(7))


@graded("layernorm.layernorm")
def test_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """A single vector, and 3-D and 4-D batches"""
    for shape in ((6,), (2, 3, 5), (2, 3, 4, 6), (1, 1, 4)):
        agree(draw.normal(*shape, scale=3), _gain(draw, shape[-1]), draw.normal(shape[-1]))


@graded("layernorm.layernorm")
def test_eps(agree: Agree, draw: RandomInputs) -> None:
    """A large eps inside the root, and small vectors"""
    x, gamma, beta = draw.normal(2, 3, 5), _gain(draw, 5), draw.normal(5)
    agree(x, gamma, beta, 10.0)
    agree(x, gamma, beta, eps=0.1)
    agree(x * SMALL, gamma, beta)


@graded("layernorm.layernorm")
def test_no_variance(agree: Agree, draw: RandomInputs) -> None:
    """Rows of equal entries; rows of length 1"""
    agree(FLAT, _gain(draw, 5), draw.normal(5))
    agree(draw.normal(3, 1), _gain(draw, 1), draw.normal(1))


@graded("layernorm.layernorm")
def test_far_from_zero(agree: Agree, draw: RandomInputs) -> None:
    """Values around a million that differ by a few: the variance is the mean of squared distances"""
    agree(_far(draw), _gain(draw, 7), draw.normal(7), tolerance=FROM_FAR)


@graded("layernorm.layernorm")
def test_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    gamma, beta = draw.normal(6, scale=2, dtype=FLOAT32), draw.normal(6, dtype=FLOAT32)
    agree(draw.normal(2, 4, 6, dtype=FLOAT32), gamma, beta)
    agree(draw.integers(4, 6, low=-5, high=6), _gain(draw, 6), draw.normal(6))


@graded("layernorm.layernorm", points=0.25)
def test_small_integers(agree: Agree, draw: RandomInputs) -> None:
    """Integers of 8 bits: their squares do not fit into 8 bits"""
    agree(draw.integers(4, 6, low=-100, high=101).astype(np.int8), _gain(draw, 6), draw.normal(6))


@graded("layernorm.layernorm")
def test_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 5), _gain(draw, 5), draw.normal(5))


@graded("layernorm.layernorm_backward", points=2)
def test_gradient(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix, a random upstream gradient"""
    agree(draw.normal(5, 5), draw.normal(5, 5), _gain(draw, 5))
    agree(draw.normal(4, 7), draw.normal(4, 7, scale=3) + 2.0, _gain(draw, 7))


@graded("layernorm.layernorm_backward")
def test_gradient_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """Gain and bias: the sum over all leading axes"""
    for shape in ((2, 3, 5), (2, 3, 4, 6), (1, 1, 4)):
        agree(draw.normal(*shape), draw.normal(*shape, scale=3), _gain(draw, shape[-1]))


@graded("layernorm.layernorm_backward")
def test_gradient_vector(agree: Agree, draw: RandomInputs) -> None:
    """A single vector"""
    agree(draw.normal(6), draw.normal(6, scale=3), _gain(draw, 6))


@graded("layernorm.layernorm_backward")
def test_gradient_eps(agree: Agree, draw: RandomInputs) -> None:
    """A large eps, and small vectors"""
    dout, x, gamma = draw.normal(4, 5), draw.normal(4, 5), _gain(draw, 5)
    agree(dout, x, gamma, 10.0)
    agree(dout, x, gamma, eps=0.1)
    agree(dout, x * SMALL, gamma)


@graded("layernorm.layernorm_backward")
def test_gradient_no_variance(agree: Agree, draw: RandomInputs) -> None:
    """Rows of equal entries; rows of length 1"""
    agree(draw.normal(3, 5), FLAT, _gain(draw, 5))
    agree(draw.normal(3, 1), draw.normal(3, 1), _gain(draw, 1))


@graded("layernorm.layernorm_backward")
def test_gradient_far_from_zero(agree: Agree, draw: RandomInputs) -> None:
    """Values around a million that differ by a few"""
    agree(draw.normal(8, 7), _far(draw), _gain(draw, 7), tolerance=FROM_FAR)


@graded("layernorm.rmsnorm")
def test_rms_rows(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix with a mean that is not 0"""
    agree(draw.normal(5, 5), _gain(draw, 5))
    agree(draw.normal(4, 7, scale=3) + 2.0, _gain(draw, 7))


@graded("layernorm.rmsnorm")
def test_rms_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """A single vector, and 3-D and 4-D batches"""
    for shape in ((6,), (2, 3, 5), (2, 3, 4, 6), (1, 1, 4)):
        agree(draw.normal(*shape, scale=3), _gain(draw, shape[-1]))


@graded("layernorm.rmsnorm")
def test_rms_eps(agree: Agree, draw: RandomInputs) -> None:
    """A large eps inside the root, small vectors, and a row of zeros"""
    x, gamma = draw.normal(4, 5), _gain(draw, 5)
    agree(x, gamma, 10.0)
    agree(x, gamma, eps=0.1)
    agree(x * SMALL, gamma)
    agree(FLAT, gamma)


@graded("layernorm.rmsnorm")
def test_rms_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(2, 4, 6, dtype=FLOAT32), draw.normal(6, scale=2, dtype=FLOAT32))
    agree(draw.integers(4, 6, low=-5, high=6), _gain(draw, 6))


@graded("layernorm.rmsnorm", points=0.25)
def test_rms_small_integers(agree: Agree, draw: RandomInputs) -> None:
    """Integers of 8 bits: their squares do not fit into 8 bits"""
    agree(draw.integers(4, 6, low=-100, high=101).astype(np.int8), _gain(draw, 6))


@graded("layernorm.rmsnorm")
def test_rms_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 5), _gain(draw, 5))


@graded("layernorm.rmsnorm_backward")
def test_rms_gradient(agree: Agree, draw: RandomInputs) -> None:
    """Rows of a matrix, a random upstream gradient"""
    agree(draw.normal(5, 5), draw.normal(5, 5), _gain(draw, 5))
    agree(draw.normal(4, 7), draw.normal(4, 7, scale=3) + 2.0, _gain(draw, 7))


@graded("layernorm.rmsnorm_backward")
def test_rms_gradient_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """The gain: the sum over all leading axes"""
    for shape in ((2, 3, 5), (2, 3, 4, 6), (6,)):
        agree(draw.normal(*shape), draw.normal(*shape, scale=3), _gain(draw, shape[-1]))


@graded("layernorm.rmsnorm_backward")
def test_rms_gradient_eps(agree: Agree, draw: RandomInputs) -> None:
    """A large eps, small vectors, and a row of zeros"""
    dout, x, gamma = draw.normal(4, 5), draw.normal(4, 5), _gain(draw, 5)
    agree(dout, x, gamma, 10.0)
    agree(dout, x, gamma, eps=0.1)
    agree(dout, x * SMALL, gamma)
    agree(draw.normal(3, 5), FLAT, gamma)


@graded("layernorm.layernorm_backward", "layernorm.rmsnorm_backward")
def test_gradient_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    gamma = draw.normal(6, scale=2, dtype=FLOAT32)
    agree(draw.normal(2, 4, 6, dtype=FLOAT32), draw.normal(2, 4, 6, dtype=FLOAT32), gamma)


@graded("layernorm.layernorm_backward", "layernorm.rmsnorm_backward")
def test_gradient_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 5), draw.normal(3, 5), _gain(draw, 5))

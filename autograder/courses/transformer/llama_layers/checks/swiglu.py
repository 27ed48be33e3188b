"""Checks of SiLU, the gated feed-forward network, and their gradients."""

from typing import Any

import numpy as np
import pytest

from autograder.engine.fixtures import Agree, Backward, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32

# Far from 0 SiLU returns x or 0, and a careless formula overflows.
FAR = np.array([-1000.0, -40.0, -8.0, -0.0, 0.0, 8.0, 40.0, 1000.0])


def _params(draw: RandomInputs, d: int, f: int, dtype: Any = np.float64) -> dict[str, Array]:
    shapes = {"W_gate": (d, f), "W_up": (d, f), "W_down": (f, d)}
    return {name: draw.normal(*shape, dtype=dtype) for name, shape in shapes.items()}


@graded("llama_layers.silu")
def test_silu(agree: Agree, draw: RandomInputs) -> None:
    """Positive and negative, in any shape"""
    agree(draw.normal(6, scale=2))
    agree(draw.normal(2, 3, 4, scale=2))


@graded("llama_layers.silu")
def test_silu_extreme(agree: Agree, draw: RandomInputs) -> None:
    """Far from 0: the input or 0"""
    agree(FAR)
    agree(draw.uniform(8, low=-60.0, high=60.0))


@graded("llama_layers.silu")
def test_silu_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(3, 5, scale=2, dtype=FLOAT32))
    agree(draw.integers(3, 5, low=-5, high=6))


@graded("llama_layers.silu")
def test_silu_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.normal(3, 5))


@graded("llama_layers.silu_backward", points=2)
def test_silu_gradient(agree: Agree, draw: RandomInputs) -> None:
    """A random upstream gradient, in any shape"""
    # The larger array comes first: a difference quotient is recognized only by six or more usable entries.
    agree(draw.normal(2, 3, 4), draw.normal(2, 3, 4, scale=2))
    agree(draw.normal(6), draw.normal(6, scale=2))


@graded("llama_layers.silu_backward")
def test_silu_gradient_extreme(agree: Agree, draw: RandomInputs) -> None:
    """Far from 0: the slope is 1 or 0"""
    agree(draw.normal(8), FAR)


@graded("llama_layers.silu_backward")
def test_silu_gradient_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(3, 5, dtype=FLOAT32), draw.normal(3, 5, scale=2, dtype=FLOAT32))


@graded("llama_layers.silu_backward")
def test_silu_gradient_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 5), draw.normal(3, 5))


@graded("llama_layers.swiglu", points=2)
def test_swiglu(agree: Agree, draw: RandomInputs) -> None:
    """A batch of texts"""
    agree(draw.normal(2, 4, 3), _params(draw, 3, 5))


@graded("llama_layers.swiglu")
def test_swiglu_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """A single vector, 2-D and 4-D batches, a batch of one; as many features as entries"""
    for shape in ((4,), (5, 4), (2, 3, 4, 4), (1, 1, 4)):
        agree(draw.normal(*shape), _params(draw, 4, 6))
    agree(draw.normal(3, 4), _params(draw, 4, 4))


@graded("llama_layers.swiglu")
def test_swiglu_large(agree: Agree, draw: RandomInputs) -> None:
    """Large inputs: no overflow"""
    agree(draw.normal(2, 4, 3, scale=300), _params(draw, 3, 5))


@graded("llama_layers.swiglu")
def test_swiglu_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(2, 4, 3, dtype=FLOAT32), _params(draw, 3, 5, dtype=FLOAT32))


@graded("llama_layers.swiglu")
def test_swiglu_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input and the parameters are not changed"""
    unmodified(draw.normal(2, 4, 3), _params(draw, 3, 5))


@graded("llama_layers.swiglu_backward", points=2)
def test_swiglu_gradient(backward: Backward, draw: RandomInputs) -> None:
    """A batch of texts"""
    backward(draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5))


@graded("llama_layers.swiglu_backward")
def test_swiglu_gradient_leading_axes(backward: Backward, draw: RandomInputs) -> None:
    """A single vector, 2-D and 4-D batches, a batch of one; as many features as entries"""
    for shape in ((5, 3), (2, 3, 4, 3), (1, 1, 3), (3,)):
        backward(draw.normal(*shape), draw.normal(*shape), _params(draw, 3, 4))
    backward(draw.normal(3, 4), draw.normal(3, 4), _params(draw, 4, 4))


@graded("llama_layers.swiglu_backward")
def test_swiglu_gradient_caches(backward: Backward, draw: RandomInputs) -> None:
    """Two caches at once; the same cache used twice"""
    calls = [(draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5)) for _ in range(2)]
    caches = [backward.cache(x, params) for _, x, params in calls]
    for (dout, x, params), cache in zip(calls * 2, caches * 2, strict=True):
        backward(dout, x, params, on=cache)


@graded("llama_layers.swiglu_backward")
def test_swiglu_gradient_float32(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32"""
    dout, x = draw.normal(2, 4, 3, dtype=FLOAT32), draw.normal(2, 4, 3, dtype=FLOAT32)
    backward(dout, x, _params(draw, 3, 5, dtype=FLOAT32))


@graded("llama_layers.swiglu_backward")
def test_swiglu_gradient_inputs_kept(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The gradient and the cache are not changed"""
    unmodified(draw.normal(2, 4, 3), backward.cache(draw.normal(2, 4, 3), _params(draw, 3, 5)))

"""Checks of the feed-forward network and its gradients."""

from typing import Any

import numpy as np
import pytest

from autograder.engine.fixtures import Agree, Backward, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


def _params(
    draw: RandomInputs, d: int, f: int, *, biases: str = "b_1 b_2", dtype: Any = np.float64
) -> dict[str, Array]:
    """Return random weights, and random values for the named biases."""
    params = {
        "W_1": draw.normal(d, f, dtype=dtype),
        "b_1": draw.normal(f, dtype=dtype),
        "W_2": draw.normal(f, d, dtype=dtype),
        "b_2": draw.normal(d, dtype=dtype),
    }
    return {name: value for name, value in params.items() if name.startswith("W") or name in biases.split()}


@graded("ffn.ffn")
def test_ffn(agree: Agree, draw: RandomInputs) -> None:
    """GELU, a batch of texts"""
    agree(draw.normal(2, 4, 3), _params(draw, 3, 5))


@graded("ffn.ffn")
def test_ffn_activation(agree: Agree, draw: RandomInputs) -> None:
    """ReLU, and GELU by its name"""
    x, params = draw.normal(2, 4, 3), _params(draw, 3, 5)
    agree(x, params, activation="relu")
    agree(x, params, "gelu")


@graded("ffn.ffn")
def test_ffn_leading_axes(agree: Agree, draw: RandomInputs) -> None:
    """A single vector, 2-D and 4-D batches"""
    params = _params(draw, 3, 4)
    for shape in ((3,), (5, 3), (2, 3, 4, 3)):
        agree(draw.normal(*shape), params)


@graded("ffn.ffn")
def test_ffn_without_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without biases"""
    agree(draw.normal(2, 4, 3), _params(draw, 3, 5, biases=""))


@graded("ffn.ffn", points=0.25)
def test_ffn_first_bias_only(agree: Agree, draw: RandomInputs) -> None:
    """With the first bias only"""
    agree(draw.normal(2, 4, 3), _params(draw, 3, 5, biases="b_1"))


@graded("ffn.ffn", points=0.25)
def test_ffn_second_bias_only(agree: Agree, draw: RandomInputs) -> None:
    """With the second bias only"""
    agree(draw.normal(2, 4, 3), _params(draw, 3, 5, biases="b_2"))


@graded("ffn.ffn")
def test_ffn_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, with biases and without"""
    params = _params(draw, 3, 5, dtype=FLOAT32)
    for activation in ("gelu", "relu"):
        agree(draw.normal(2, 4, 3, dtype=FLOAT32), params, activation=activation)
    agree(draw.normal(2, 4, 3, dtype=FLOAT32), _params(draw, 3, 5, biases="", dtype=FLOAT32))


@graded("ffn.ffn")
def test_ffn_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input and the parameters are not changed"""
    unmodified(draw.normal(2, 4, 3), _params(draw, 3, 5))
    unmodified(draw.normal(2, 4, 3), _params(draw, 3, 5), activation="relu")
    unmodified(draw.normal(2, 4, 3), _params(draw, 3, 5, biases=""))


@graded("ffn.ffn", points=0.25)
def test_ffn_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an unknown activation"""
    for activation in ("tanh", "GELU"):
        refuses(draw.normal(4, 3), _params(draw, 3, 5), activation=activation)


@graded("ffn.ffn_backward", points=2)
def test_ffn_gradient(backward: Backward, draw: RandomInputs) -> None:
    """GELU, a batch of texts"""
    backward(draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5))


@graded("ffn.ffn_backward")
def test_ffn_gradient_relu(backward: Backward, draw: RandomInputs) -> None:
    """ReLU"""
    dout, x, params = draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5)
    backward(dout, x, params, activation="relu")
    x = draw.normal(2, 4, 3)
    x[:, ::2] = 0  # Without biases, the input of ReLU is exactly 0 here.
    backward(dout, x, _params(draw, 3, 5, biases=""), activation="relu")


@graded("ffn.ffn_backward")
def test_ffn_gradient_leading_axes(backward: Backward, draw: RandomInputs) -> None:
    """A single vector, 2-D and 4-D batches, a batch of one"""
    params = _params(draw, 3, 4)
    for shape in ((5, 3), (2, 3, 4, 3), (1, 1, 3), (3,)):
        backward(draw.normal(*shape), draw.normal(*shape), params)


@graded("ffn.ffn_backward")
def test_ffn_gradient_without_biases(backward: Backward, draw: RandomInputs) -> None:
    """No biases, no gradients for them"""
    backward(draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5, biases=""))


@graded("ffn.ffn_backward", points=0.25)
def test_ffn_gradient_first_bias_only(backward: Backward, draw: RandomInputs) -> None:
    """The first bias only"""
    backward(draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5, biases="b_1"))


@graded("ffn.ffn_backward", points=0.25)
def test_ffn_gradient_second_bias_only(backward: Backward, draw: RandomInputs) -> None:
    """The second bias only"""
    backward(draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5, biases="b_2"))


@graded("ffn.ffn_backward")
def test_ffn_gradient_caches(backward: Backward, draw: RandomInputs) -> None:
    """Two caches at once; the same cache used twice"""
    calls = [(draw.normal(2, 4, 3), draw.normal(2, 4, 3), _params(draw, 3, 5), name) for name in ("gelu", "relu")]
    caches = [backward.cache(x, params, activation) for _, x, params, activation in calls]
    for (dout, x, params, activation), cache in zip(calls * 2, caches * 2, strict=True):
        backward(dout, x, params, activation, on=cache)


@graded("ffn.ffn_backward")
def test_ffn_gradient_float32(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32, with biases and without"""
    dout, x = draw.normal(2, 4, 3, dtype=FLOAT32), draw.normal(2, 4, 3, dtype=FLOAT32)
    params = _params(draw, 3, 5, dtype=FLOAT32)
    for activation in ("gelu", "relu"):
        backward(dout, x, params, activation=activation)
    backward(dout, x, _params(draw, 3, 5, biases="", dtype=FLOAT32))


@graded("ffn.ffn_backward")
def test_ffn_gradient_inputs_kept(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The gradient and the cache are not changed"""
    for activation in ("gelu", "relu"):
        cache = backward.cache(draw.normal(2, 4, 3), _params(draw, 3, 5), activation)
        unmodified(draw.normal(2, 4, 3), cache)

"""Checks of attention with rotated queries and keys and shared keys and values, and of its gradient."""

from typing import Any

import numpy as np
import pytest

from autograder.courses.transformer.common.checks.masks import random_mask
from autograder.engine.fixtures import Agree, Backward, Refuses, Stages, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32
FORWARD, GRADIENT = "llama_layers.grouped_query_attention", "llama_layers.grouped_query_attention_backward"
GAPS = np.array([0, 2, 3, 7, 20], np.int64)


def _params(
    draw: RandomInputs, d_model: int, n_heads: int, n_kv_heads: int, dtype: Any = np.float64
) -> dict[str, Array]:
    shared = d_model // n_heads * n_kv_heads
    shapes = {"W_q": (d_model, d_model), "W_k": (d_model, shared), "W_v": (d_model, shared), "W_o": (d_model, d_model)}
    return {name: draw.normal(*shape, scale=0.5, dtype=dtype) for name, shape in shapes.items()}


@graded(FORWARD, points=2)
def test_attention_groups(agree: Agree, draw: RandomInputs) -> None:
    """Six heads share two heads of keys and values, four share two"""
    agree(draw.normal(2, 5, 12), _params(draw, 12, 6, 2), 6, 2)
    agree(draw.normal(2, 3, 16), _params(draw, 16, 4, 2), 4, 2)


@graded(FORWARD)
def test_attention_as_many_keys(agree: Agree, draw: RandomInputs) -> None:
    """As many heads of keys as of queries; a single head of all"""
    agree(draw.normal(2, 5, 12), _params(draw, 12, 3, 3), 3, 3)
    agree(draw.normal(2, 5, 6), _params(draw, 6, 1, 1), 1, 1)


@graded(FORWARD)
def test_attention_one_key_head(agree: Agree, draw: RandomInputs) -> None:
    """All heads share one head of keys and values"""
    agree(draw.normal(2, 5, 12), _params(draw, 12, 3, 1), 3, 1)


@graded(FORWARD)
def test_attention_weights(stages: Stages, draw: RandomInputs) -> None:
    """The cache entry "weights" holds the weights of each query head"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 6, 2)
    stages(x, params, 6, 2)
    stages(x, params, 6, 2, random_mask(draw, 2, 1, 5, 5))
    stages(x[0], params, 6, 2)


@graded(FORWARD)
def test_attention_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two; a single position"""
    params = _params(draw, 12, 6, 2)
    agree(draw.normal(4, 12), params, 6, 2)
    agree(draw.normal(2, 3, 4, 12), params, 6, 2)
    agree(draw.normal(1, 1, 12), params, 6, 2)


@graded(FORWARD)
def test_attention_causal(agree: Agree, draw: RandomInputs) -> None:
    """The causal mask, and another one of shape (T, T)"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 6, 2)
    agree(x, params, 6, 2, mask=np.tri(5, dtype=bool))
    agree(x, params, 6, 2, random_mask(draw, 5, 5))


@graded(FORWARD)
def test_attention_masks(agree: Agree, draw: RandomInputs) -> None:
    """Padding, a mask for each text, a mask for each head"""
    x, params = draw.normal(2, 5, 8), _params(draw, 8, 4, 2)
    for shape in [(2, 1, 1, 5), (2, 1, 5, 5), (2, 4, 5, 5), (4, 5, 5)]:
        agree(x, params, 4, 2, mask=random_mask(draw, *shape))


@graded(FORWARD)
def test_attention_sees_nothing(agree: Agree, draw: RandomInputs) -> None:
    """A query that may attend to no key"""
    agree(draw.normal(2, 4, 8), _params(draw, 8, 4, 2), 4, 2, mask=np.tri(4, k=-1, dtype=bool))


@graded(FORWARD)
def test_attention_positions(agree: Agree, draw: RandomInputs) -> None:
    """Positions with gaps, and not in order"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 3, 1)
    agree(x, params, 3, 1, positions=GAPS)
    agree(x, params, 3, 1, np.tri(5, dtype=bool), np.array([3, 0, 9, 1, 1], np.int64))


@graded(FORWARD)
def test_attention_base(agree: Agree, draw: RandomInputs) -> None:
    """Another base than 10,000"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 3, 1)
    agree(x, params, 3, 1, base=100.0)
    agree(x, params, 3, 1, positions=GAPS, base=500_000.0)


@graded(FORWARD)
def test_attention_large(agree: Agree, draw: RandomInputs) -> None:
    """Large inputs: no overflow"""
    agree(draw.normal(2, 5, 12, scale=64), _params(draw, 12, 6, 2), 6, 2)


@graded(FORWARD)
def test_attention_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    x, params = draw.normal(2, 5, 12, dtype=FLOAT32), _params(draw, 12, 6, 2, dtype=FLOAT32)
    agree(x, params, 6, 2)
    agree(x, params, 6, 2, np.tri(5, dtype=bool), GAPS)


@graded(FORWARD)
def test_attention_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs, parameters, masks and positions are not changed"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 6, 2)
    unmodified(x, params, 6, 2)
    unmodified(x, params, 6, 2, np.tri(5, k=-1, dtype=bool), GAPS)


@graded(FORWARD, points=0.25)
def test_attention_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: numbers of heads that do not divide each other"""
    x = draw.normal(2, 5, 12)
    refuses(x, _params(draw, 12, 6, 4), 6, 4)
    refuses(x, _params(draw, 12, 2, 4), 2, 4)  # fewer heads of queries than of keys
    refuses(draw.normal(2, 5, 10), _params(draw, 10, 4, 2), 4, 2)


@graded(GRADIENT, points=2)
def test_attention_gradient_groups(backward: Backward, draw: RandomInputs) -> None:
    """Six heads share two heads of keys and values, four share two"""
    backward(draw.normal(2, 5, 12), draw.normal(2, 5, 12), _params(draw, 12, 6, 2), 6, 2)
    backward(draw.normal(2, 3, 16), draw.normal(2, 3, 16), _params(draw, 16, 4, 2), 4, 2)


@graded(GRADIENT)
def test_attention_gradient_head_counts(backward: Backward, draw: RandomInputs) -> None:
    """As many heads of keys as of queries, one for all, a single head of all"""
    for n_heads, n_kv_heads in ((3, 3), (3, 1), (1, 1)):
        params = _params(draw, 12, n_heads, n_kv_heads)
        backward(draw.normal(2, 5, 12), draw.normal(2, 5, 12), params, n_heads, n_kv_heads)


@graded(GRADIENT)
def test_attention_gradient_axes(backward: Backward, draw: RandomInputs) -> None:
    """No batch axis, and two; a single position"""
    params = _params(draw, 12, 6, 2)
    for shape in ((4, 12), (2, 3, 4, 12), (1, 1, 12)):
        backward(draw.normal(*shape), draw.normal(*shape), params, 6, 2)


@graded(GRADIENT)
def test_attention_gradient_masked(backward: Backward, draw: RandomInputs) -> None:
    """The causal mask, a mask for each text, a query that attended to no key"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 6, 2)
    for mask in (np.tri(5, dtype=bool), random_mask(draw, 2, 1, 5, 5), np.tri(5, k=-1, dtype=bool)):
        backward(draw.normal(2, 5, 12), x, params, 6, 2, mask=mask)


@graded(GRADIENT)
def test_attention_gradient_positions(backward: Backward, draw: RandomInputs) -> None:
    """Positions with gaps, and another base"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 3, 1)
    backward(draw.normal(2, 5, 12), x, params, 3, 1, positions=GAPS)
    backward(draw.normal(2, 5, 12), x, params, 3, 1, base=100.0)


@graded(GRADIENT)
def test_attention_gradient_caches(backward: Backward, draw: RandomInputs) -> None:
    """Each cache belongs to its own forward pass and can be used twice"""
    heads = ((6, 2), (6, 3), (3, 1))
    calls = [(draw.normal(2, 4, 12), draw.normal(2, 4, 12), _params(draw, 12, h, g), h, g) for h, g in heads]
    caches = [backward.cache(*call[1:]) for call in calls]
    for call, cache in zip(calls * 2, caches * 2, strict=True):
        backward(*call, on=cache)


@graded(GRADIENT)
def test_attention_gradient_float32(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32"""
    x, params = draw.normal(2, 5, 12, dtype=FLOAT32), _params(draw, 12, 6, 2, dtype=FLOAT32)
    backward(draw.normal(2, 5, 12, dtype=FLOAT32), x, params, 6, 2, mask=np.tri(5, dtype=bool))


@graded(GRADIENT)
def test_attention_gradient_inputs_kept(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The upstream gradient and the cache are not changed"""
    x, params = draw.normal(2, 5, 12), _params(draw, 12, 6, 2)
    unmodified(draw.normal(2, 5, 12), backward.cache(x, params, 6, 2))

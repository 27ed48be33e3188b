"""Checks of the block and its gradient."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Config
from autograder.courses.transformer.common.checks.draws import draw_params
from autograder.courses.transformer.llama.checks._models import block_shapes, small_config
from autograder.engine.fixtures import Agree, Backward, Stages, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
FORWARD, GRADIENT = "llama.llama_block", "llama.llama_block_backward"
FLOAT32 = np.float32

# Each query attends to itself and to earlier positions.
CAUSAL = np.tri(5, dtype=bool)
# (2, 1, 1, 5), as `padding_mask` returns it: the last tokens of both texts are padding.
PADDING = np.array([[True, True, True, False, False], [True, True, True, True, False]])[:, None, None, :]


def _small(**fields: Any) -> Config:
    """Return a configuration with eight features."""
    return small_config(**{"n_heads": 2, "n_kv_heads": 1, "d_model": 8, "d_ff": 5, **fields})


def _params(draw: RandomInputs, config: Config, dtype: Any = np.float64) -> dict[str, Array]:
    return draw_params(draw, block_shapes(config), dtype)


@graded(FORWARD, points=2)
def test_block(agree: Agree, draw: RandomInputs) -> None:
    """A causal mask; heads that share keys and values"""
    for config in (_small(), small_config()):
        agree(draw.normal(2, 5, config.d_model), _params(draw, config), config, CAUSAL)


@graded(FORWARD)
def test_block_no_mask(agree: Agree, draw: RandomInputs) -> None:
    """No mask: every query attends to every key"""
    config = _small()
    agree(draw.normal(2, 5, 8), _params(draw, config), config)


@graded(FORWARD)
def test_block_masks(agree: Agree, draw: RandomInputs) -> None:
    """A padding mask, a mask for each head, queries that may attend to no key"""
    config = small_config()
    x, params, nothing = draw.normal(2, 5, 16), _params(draw, config), CAUSAL.copy()
    nothing[[0, 3]] = False
    for mask in (PADDING, draw.booleans(2, 4, 5, 5) | np.eye(5, dtype=bool), nothing):
        agree(x, params, config, mask=mask)


@graded(FORWARD)
def test_block_eps(agree: Agree, draw: RandomInputs) -> None:
    """The eps of the configuration, in both norms"""
    for eps in (1e-6, 1e-5, 2.0):
        config = _small(norm_eps=eps)
        agree(draw.normal(2, 4, 8, scale=0.01), _params(draw, config), config)


@graded(FORWARD)
def test_block_base(agree: Agree, draw: RandomInputs) -> None:
    """The base of the configuration"""
    for base in (10.0, 10_000.0):
        config = _small(rope_base=base)
        agree(draw.normal(2, 5, 8), _params(draw, config), config, CAUSAL)


@graded(FORWARD)
def test_block_heads(agree: Agree, draw: RandomInputs) -> None:
    """One head; as many heads of keys as of queries; four heads that share one"""
    for heads in ((1, 1), (4, 4), (4, 1)):
        config = small_config(n_heads=heads[0], n_kv_heads=heads[1])
        agree(draw.normal(2, 3, 16), _params(draw, config), config)


@graded(FORWARD)
def test_block_axes(agree: Agree, draw: RandomInputs) -> None:
    """2-D and 4-D x, a single token"""
    config = _small()
    params = _params(draw, config)
    agree(draw.normal(5, 8), params, config, CAUSAL)
    agree(draw.normal(2, 3, 5, 8), params, config, CAUSAL)
    agree(draw.normal(1, 1, 8), params, config)


@graded(FORWARD)
def test_block_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache holds the weights and the residual stream after each step"""
    config = small_config()
    stages(draw.normal(2, 5, 16), _params(draw, config), config, mask=CAUSAL)


@graded(FORWARD)
def test_block_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    config = _small()
    agree(draw.normal(2, 5, 8, dtype=FLOAT32), _params(draw, config, FLOAT32), config, CAUSAL)


@graded(FORWARD)
def test_block_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input, the parameters and the mask are not changed"""
    config = _small()
    unmodified(draw.normal(2, 5, 8), _params(draw, config), config, CAUSAL)


@graded(GRADIENT, points=2)
def test_block_gradient(backward: Backward, draw: RandomInputs) -> None:
    """A causal mask; heads that share keys and values"""
    for config in (_small(), small_config()):
        shape = (2, 5, config.d_model)
        backward(draw.normal(*shape), draw.normal(*shape), _params(draw, config), config, CAUSAL)


@graded(GRADIENT)
def test_block_masks_gradient(backward: Backward, draw: RandomInputs) -> None:
    """No mask, a padding mask, queries that may attend to no key"""
    config = _small()
    dout, x, params, nothing = draw.normal(2, 5, 8), draw.normal(2, 5, 8), _params(draw, config), CAUSAL.copy()
    nothing[[0, 3]] = False
    for mask in (None, PADDING, nothing):
        backward(dout, x, params, config, mask=mask)


@graded(GRADIENT)
def test_block_settings_gradient(backward: Backward, draw: RandomInputs) -> None:
    """The eps and the base of the configuration"""
    for fields in ({"norm_eps": 1e-6}, {"norm_eps": 2.0}, {"rope_base": 10_000.0}):
        config = _small(**fields)
        backward(draw.normal(2, 4, 8), draw.normal(2, 4, 8, scale=0.1), _params(draw, config), config)


@graded(GRADIENT)
def test_block_axes_gradient(backward: Backward, draw: RandomInputs) -> None:
    """2-D and 4-D x, a single token"""
    config = _small()
    params = _params(draw, config)
    for shape in ((5, 8), (2, 3, 5, 8), (1, 1, 8)):
        backward(draw.normal(*shape), draw.normal(*shape), params, config)


@graded(GRADIENT)
def test_block_caches(backward: Backward, draw: RandomInputs) -> None:
    """Two caches at once; the same cache used twice"""
    config = _small()
    calls = [(draw.normal(3, 8), draw.normal(3, 8), _params(draw, config)) for _ in range(2)]
    caches = [backward.cache(x, params, config) for _, x, params in calls]
    for (dout, x, params), cache in zip(calls * 2, caches * 2, strict=True):
        backward(dout, x, params, config, on=cache)


@graded(GRADIENT)
def test_block_float32_gradient(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32"""
    config = _small()
    dout, x = draw.normal(2, 5, 8, dtype=FLOAT32), draw.normal(2, 5, 8, dtype=FLOAT32)
    backward(dout, x, _params(draw, config, FLOAT32), config, CAUSAL)


@graded(GRADIENT)
def test_block_inputs_kept_gradient(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The upstream gradient is not changed"""
    config = _small()
    cache = backward.cache(draw.normal(2, 5, 8), _params(draw, config), config)
    unmodified(draw.normal(2, 5, 8), cache)

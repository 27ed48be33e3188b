"""Checks of the model and its gradient."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Config
from autograder.courses.transformer.common.checks.draws import draw_ids, draw_params
from autograder.courses.transformer.llama.checks._models import llama_shapes, small_config
from autograder.engine.comparison.compare import TOLERANCES
from autograder.engine.fixtures import Agree, Backward, Refuses, Stages, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
FORWARD, GRADIENT = "llama.llama", "llama.llama_backward"
FLOAT32 = np.float32


def _tiny(**fields: Any) -> Config:
    """Return a configuration with one block and eight features."""
    sizes = {"vocab_size": 5, "block_size": 4, "n_layers": 1, "n_heads": 2, "n_kv_heads": 1, "d_model": 8, "d_ff": 3}
    return small_config(**{**sizes, **fields})


def _params(draw: RandomInputs, config: Config, dtype: Any = np.float64) -> dict[str, Array]:
    return draw_params(draw, llama_shapes(config), dtype)


@graded(FORWARD, points=2)
def test_llama(agree: Agree, draw: RandomInputs) -> None:
    """One block, two blocks"""
    for config in (_tiny(), small_config()):
        agree(draw_ids(draw, config, 3, 4), _params(draw, config), config)


@graded(FORWARD)
def test_llama_tied(agree: Agree, draw: RandomInputs) -> None:
    """A tied head: the token table, transposed"""
    config = small_config(tied=True)
    agree(draw_ids(draw, config, 3, 7), _params(draw, config), config)


@graded(FORWARD, points=2)
def test_llama_stages(stages: Stages, draw: RandomInputs) -> None:
    """The stages in the cache, from the embedding to the last norm"""
    config = small_config(n_layers=3)
    stages(draw_ids(draw, config, 3, 5), _params(draw, config), config)


@graded(FORWARD)
def test_llama_settings(agree: Agree, draw: RandomInputs) -> None:
    """The eps and the base of the configuration"""
    for fields in ({"norm_eps": 1e-6}, {"norm_eps": 3.0}, {"rope_base": 10_000.0}):
        config = _tiny(**fields)
        agree(draw_ids(draw, config, 2, 4), _params(draw, config), config)


@graded(FORWARD)
def test_llama_lengths(agree: Agree, draw: RandomInputs) -> None:
    """Texts shorter than the block size, a single token, a single text"""
    config = _tiny(block_size=7)
    params = _params(draw, config)
    for shape in ((3, 5), (1, 7), (3, 1), (1, 1)):
        agree(draw_ids(draw, config, *shape), params, config)


@graded(FORWARD)
def test_llama_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    config = _tiny()
    params = _params(draw, config)
    agree(draw_ids(draw, config, 4), params, config)
    agree(draw_ids(draw, config, 2, 3, 4), params, config)


@graded(FORWARD)
def test_llama_layers(agree: Agree, draw: RandomInputs) -> None:
    """Eleven blocks; one head; as many heads of keys as of queries"""
    for fields in ({"n_layers": 11}, {"n_heads": 1, "n_layers": 2}, {"n_kv_heads": 2, "n_layers": 3}):
        config = _tiny(**fields)
        agree(draw_ids(draw, config, 2, 4), _params(draw, config), config)


@graded(FORWARD)
def test_llama_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 parameters give float32 scores"""
    for tied in (True, False):
        config = _tiny(tied=tied)
        agree(draw_ids(draw, config, 2, 4), _params(draw, config, FLOAT32), config)


@graded(FORWARD)
def test_llama_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids and the parameters are not changed"""
    for tied in (True, False):
        config = _tiny(tied=tied)
        unmodified(draw_ids(draw, config, 2, 4), _params(draw, config), config)


@graded(FORWARD, points=0.25)
def test_llama_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: more tokens than the block size, an id below 0, an id of V"""
    config = _tiny()
    params = _params(draw, config)
    negative, too_large = draw_ids(draw, config, 2, 3), draw_ids(draw, config, 2, 3)
    negative[1, 2], too_large[0, 1] = -1, config.vocab_size
    for ids in (draw_ids(draw, config, 2, 5), negative, too_large):
        refuses(ids, params, config)


@graded(GRADIENT, points=2)
def test_llama_gradient(backward: Backward, draw: RandomInputs) -> None:
    """A separate head; one block, two blocks"""
    for config in (_tiny(), small_config()):
        ids = draw_ids(draw, config, 3, 4)
        backward(draw.normal(3, 4, config.vocab_size), ids, _params(draw, config), config)


@graded(GRADIENT, points=2)
def test_llama_tied_gradient(backward: Backward, draw: RandomInputs) -> None:
    """A tied head: the gradient of the table has two parts"""
    config = _tiny(tied=True, n_layers=2)
    backward(draw.normal(3, 4, 5), draw_ids(draw, config, 3, 4), _params(draw, config), config)


@graded(GRADIENT)
def test_llama_tokens_gradient(backward: Backward, draw: RandomInputs) -> None:
    """Tokens that occur several times, and tokens that do not occur"""
    config = _tiny(vocab_size=9)
    ids = np.array([[3, 3, 1, 3], [1, 8, 8, 8]], np.int64)
    backward(draw.normal(2, 4, 9), ids, _params(draw, config), config)


@graded(GRADIENT)
def test_llama_settings_gradient(backward: Backward, draw: RandomInputs) -> None:
    """The eps and the base of the configuration"""
    for fields in ({"norm_eps": 1e-6}, {"norm_eps": 3.0}, {"rope_base": 10_000.0}):
        config = _tiny(**fields)
        backward(draw.normal(2, 4, 5), draw_ids(draw, config, 2, 4), _params(draw, config), config)


@graded(GRADIENT)
def test_llama_axes_gradient(backward: Backward, draw: RandomInputs) -> None:
    """No batch axis, and two; a single token"""
    config = _tiny()
    params = _params(draw, config)
    for shape in ((4,), (2, 3, 4), (1, 1)):
        backward(draw.normal(*shape, 5), draw_ids(draw, config, *shape), params, config)


@graded(GRADIENT)
def test_llama_layers_gradient(backward: Backward, draw: RandomInputs) -> None:
    """Eleven blocks; as many heads of keys as of queries"""
    for fields in ({"n_layers": 11}, {"n_kv_heads": 2, "n_layers": 3}):
        config = _tiny(**fields)
        backward(draw.normal(2, 3, 5), draw_ids(draw, config, 2, 3), _params(draw, config), config)


@graded(GRADIENT)
def test_llama_caches(backward: Backward, draw: RandomInputs) -> None:
    """Two caches at once; the same cache used twice"""
    config = _tiny()
    calls = [(draw.normal(2, 3, 5), draw_ids(draw, config, 2, 3), _params(draw, config)) for _ in range(2)]
    caches = [backward.cache(ids, params, config) for _, ids, params in calls]
    for (dlogits, ids, params), cache in zip(calls * 2, caches * 2, strict=True):
        backward(dlogits, ids, params, config, on=cache)


@graded(GRADIENT)
def test_llama_float32_gradient(backward: Backward, draw: RandomInputs) -> None:
    """float32 parameters have float32 gradients"""
    for tied in (True, False):
        config = _tiny(tied=tied)
        dlogits, ids = draw.normal(2, 4, 5, dtype=FLOAT32), draw_ids(draw, config, 2, 4)
        tolerance = TOLERANCES[np.dtype(FLOAT32)]
        backward(dlogits, ids, _params(draw, config, FLOAT32), config, tolerance=tolerance)


@graded(GRADIENT)
def test_llama_inputs_kept_gradient(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The upstream gradient is not changed"""
    config = _tiny()
    cache = backward.cache(draw_ids(draw, config, 2, 4), _params(draw, config), config)
    unmodified(draw.normal(2, 4, 5), cache)

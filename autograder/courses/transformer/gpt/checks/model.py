"""Checks of the forward pass of a GPT."""

import numpy as np
import pytest

from autograder.courses.transformer.common.checks.draws import draw_ids
from autograder.courses.transformer.gpt.checks._models import draw_gpt, refuse_documented, small_config
from autograder.engine.fixtures import Agree, Refuses, Stages, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("gpt.gpt", points=2)
def test_tied(agree: Agree, draw: RandomInputs) -> None:
    """A tied head: the token table, transposed"""
    config = small_config()
    agree(draw_ids(draw, config, 3, 7), draw_gpt(draw, config), config)


@graded("gpt.gpt")
def test_untied(agree: Agree, draw: RandomInputs) -> None:
    """A separate head"""
    config = small_config(tied=False)
    agree(draw_ids(draw, config, 3, 7), draw_gpt(draw, config), config)


@graded("gpt.gpt", points=2)
def test_stages(stages: Stages, draw: RandomInputs) -> None:
    """The stages in the cache, from the embedding to the last norm"""
    config = small_config(n_layers=3)
    ids, params = draw_ids(draw, config, 3, 5), draw_gpt(draw, config)
    stages(ids, params, config)


@graded("gpt.gpt")
def test_relu(agree: Agree, draw: RandomInputs) -> None:
    """ReLU"""
    config = small_config(activation="relu")
    agree(draw_ids(draw, config, 3, 6), draw_gpt(draw, config), config)


@graded("gpt.gpt")
def test_without_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without biases"""
    for tied in (True, False):
        config = small_config(bias=False, tied=tied)
        agree(draw_ids(draw, config, 3, 6), draw_gpt(draw, config), config)


@graded("gpt.gpt")
def test_lengths(agree: Agree, draw: RandomInputs) -> None:
    """Texts shorter than the block size, a single token, a single text"""
    config = small_config()
    params = draw_gpt(draw, config)
    for shape in ((3, 5), (1, 7), (3, 1), (1, 1)):
        agree(draw_ids(draw, config, *shape), params, config)


@graded("gpt.gpt")
def test_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    config = small_config(tied=False)
    params = draw_gpt(draw, config)
    agree(draw_ids(draw, config, 5), params, config)
    agree(draw_ids(draw, config, 2, 3, 5), params, config)


@graded("gpt.gpt")
def test_layers_and_heads(agree: Agree, draw: RandomInputs) -> None:
    """One block, eleven blocks; one head, three heads"""
    for fields in ({"n_layers": 1, "n_heads": 1}, {"n_heads": 3}, {"n_layers": 11, "d_model": 4}):
        config = small_config(**fields)
        agree(draw_ids(draw, config, 2, 4), draw_gpt(draw, config), config)


@graded("gpt.gpt", points=0.5)
def test_post_norm(agree: Agree, draw: RandomInputs) -> None:
    """Post-norm: no norm after the last block"""
    config = small_config(norm="post")
    agree(draw_ids(draw, config, 3, 6), draw_gpt(draw, config), config)


@graded("gpt.gpt", points=0.5)
def test_sinusoidal(agree: Agree, draw: RandomInputs) -> None:
    """Sinusoidal positions, in float64 and float32"""
    config = small_config(positions="sinusoidal")
    for dtype in (np.float64, FLOAT32):
        agree(draw_ids(draw, config, 3, 5), draw_gpt(draw, config, dtype), config)


@graded("gpt.gpt", points=0.5)
def test_head_bias(agree: Agree, draw: RandomInputs) -> None:
    """A head with a bias; attention without biases"""
    for tied, bias in ((False, "b_1 b_2 b_head"), (True, "b_o b_1 b_2 b_head")):
        config = small_config(tied=tied, bias=bias)
        agree(draw_ids(draw, config, 3, 5), draw_gpt(draw, config), config)


@graded("gpt.gpt", points=0.5)
def test_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Dropout with rng, after the embedding and in the blocks"""
    config = small_config(dropout=0.25)
    agree(draw_ids(draw, config, 3, 6), draw_gpt(draw, config), config, draw.rng())


@graded("gpt.gpt", points=0.25)
def test_no_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Without rng, nothing is dropped"""
    config = small_config(dropout=0.25)
    agree(draw_ids(draw, config, 3, 6), draw_gpt(draw, config), config)


@graded("gpt.gpt", points=0.25)
def test_stages_of_options(stages: Stages, draw: RandomInputs) -> None:
    """The stages in the cache with dropout; with post-norm and sinusoidal positions"""
    for fields, rng in (({}, draw.rng()), ({"norm": "post", "positions": "sinusoidal"}, None)):
        config = small_config(dropout=0.4, **fields)
        stages(draw_ids(draw, config, 2, 5), draw_gpt(draw, config), config, rng=rng)


@graded("gpt.gpt")
def test_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 parameters give float32 scores"""
    for tied in (True, False):
        config = small_config(tied=tied)
        agree(draw_ids(draw, config, 2, 5), draw_gpt(draw, config, FLOAT32), config)


@graded("gpt.gpt")
def test_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids and the parameters are not changed"""
    for fields in ({"tied": True}, {"tied": False, "bias": False}):
        config = small_config(**fields)
        unmodified(draw_ids(draw, config, 2, 5), draw_gpt(draw, config), config)


@graded("gpt.gpt", points=0.25)
def test_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: more tokens than the block size, an id below 0, an id of V"""
    refuse_documented(refuses, draw)

"""Checks of the loss of a GPT and its gradients."""

import numpy as np
import pytest

from autograder.courses.transformer.common.checks.draws import draw_ids
from autograder.courses.transformer.gpt.checks._models import draw_gpt, refuse_documented, small_config, tiny_config
from autograder.engine.comparison.compare import TOLERANCES, require_python
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32
FLOAT32_LOSS = TOLERANCES[np.dtype(FLOAT32)]


@graded("gpt.gpt_loss", points=2)
def test_loss_tied(agree: Agree, draw: RandomInputs) -> None:
    """A tied head: the gradient of the table has two parts"""
    config = small_config()
    agree(draw_ids(draw, config, 3, 7), draw_ids(draw, config, 3, 7), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss", points=2)
def test_loss_untied(agree: Agree, draw: RandomInputs) -> None:
    """A separate head: tokens that do not occur have gradient 0"""
    config = small_config(tied=False)
    agree(draw.integers(3, 5, high=8), draw_ids(draw, config, 3, 5), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_relu(agree: Agree, draw: RandomInputs) -> None:
    """ReLU"""
    config = tiny_config(activation="relu", n_layers=2)
    agree(draw_ids(draw, config, 3, 4), draw_ids(draw, config, 3, 4), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_without_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without biases: no gradients for them"""
    for tied in (True, False):
        config = tiny_config(bias=False, tied=tied)
        agree(draw_ids(draw, config, 3, 4), draw_ids(draw, config, 3, 4), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_short(agree: Agree, draw: RandomInputs) -> None:
    """Short texts: unused positions have gradient 0"""
    config = tiny_config()
    params = draw_gpt(draw, config)
    for shape in ((3, 2), (2, 1), (1, 3)):
        agree(draw_ids(draw, config, *shape), draw_ids(draw, config, *shape), params, config)


@graded("gpt.gpt_loss")
def test_loss_repeated(agree: Agree, draw: RandomInputs) -> None:
    """The same token at many positions: its gradients add up"""
    ids, targets = np.array([[1, 1, 3, 1], [3, 1, 1, 1]], np.int64), np.array([[2, 2, 2, 1], [1, 2, 2, 4]], np.int64)
    for tied in (True, False):
        config = tiny_config(tied=tied)
        agree(ids, targets, draw_gpt(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, and two"""
    config = tiny_config()
    params = draw_gpt(draw, config)
    for shape in ((3,), (2, 3, 4)):
        agree(draw_ids(draw, config, *shape), draw_ids(draw, config, *shape), params, config)


@graded("gpt.gpt_loss")
def test_loss_layers_and_heads(agree: Agree, draw: RandomInputs) -> None:
    """One head, four heads; three different blocks"""
    for fields in ({"n_heads": 1}, {"n_heads": 4}, {"n_layers": 3}):
        config = tiny_config(**fields)
        agree(draw_ids(draw, config, 2, 4), draw_ids(draw, config, 2, 4), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss")
def test_loss_confidently_wrong(agree: Agree, draw: RandomInputs) -> None:
    """Scores in the hundreds: the loss is large, not infinite"""
    config = tiny_config(tied=False)
    params = draw_gpt(draw, config)
    params["W_head"] *= 1024.0
    agree(draw_ids(draw, config, 2, 3), draw_ids(draw, config, 2, 3), params, config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_post_norm(agree: Agree, draw: RandomInputs) -> None:
    """Post-norm: no norm after the last block"""
    config = tiny_config(norm="post", n_layers=2)
    agree(draw_ids(draw, config, 3, 4), draw_ids(draw, config, 3, 4), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_sinusoidal(agree: Agree, draw: RandomInputs) -> None:
    """Sinusoidal positions: no gradient for them"""
    for tied in (False, True):
        config = tiny_config(positions="sinusoidal", tied=tied)
        agree(draw_ids(draw, config, 3, 4), draw_ids(draw, config, 3, 4), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_head_bias(agree: Agree, draw: RandomInputs) -> None:
    """A head with a bias; attention without biases"""
    for tied, bias in ((False, "b_1 b_2 b_head"), (True, "b_o b_1 b_2 b_head")):
        config = tiny_config(tied=tied, bias=bias)
        agree(draw_ids(draw, config, 3, 4), draw_ids(draw, config, 3, 4), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss", points=0.5)
def test_loss_dropout(agree: Agree, draw: RandomInputs) -> None:
    """Dropout with rng: the gradients go through the same masks"""
    config = tiny_config(dropout=0.25, n_layers=2)
    agree(draw_ids(draw, config, 3, 4), draw_ids(draw, config, 3, 4), draw_gpt(draw, config), config, draw.rng())


@graded("gpt.gpt_loss", points=0.25)
def test_loss_all_options(agree: Agree, draw: RandomInputs) -> None:
    """All options at once; without rng, nothing is dropped"""
    fields = {"norm": "post", "positions": "sinusoidal", "dropout": 0.4, "bias": "b_1 b_2 b_head"}
    config = tiny_config(**fields)
    for rng in (draw.rng(), None):
        agree(draw_ids(draw, config, 2, 3), draw_ids(draw, config, 2, 3), draw_gpt(draw, config), config, rng)


@graded("gpt.gpt_loss")
def test_loss_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 parameters have float32 gradients"""
    for tied in (True, False):
        config = tiny_config(tied=tied, n_layers=2)
        ids, targets = draw_ids(draw, config, 2, 3), draw_ids(draw, config, 2, 3)
        agree(ids, targets, draw_gpt(draw, config, FLOAT32), config, tolerance=FLOAT32_LOSS)


@graded("gpt.gpt_loss")
def test_loss_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids, the targets and the parameters are not changed"""
    for fields in ({"tied": True}, {"tied": False, "bias": False}):
        config = tiny_config(**fields)
        unmodified(draw_ids(draw, config, 2, 3), draw_ids(draw, config, 2, 3), draw_gpt(draw, config), config)


@graded("gpt.gpt_loss", points=0.25)
def test_loss_type(agree: Agree, draw: RandomInputs) -> None:
    """The loss is a Python float, not an array or a NumPy scalar"""
    config = tiny_config()
    loss, _ = agree(draw_ids(draw, config, 2, 3), draw_ids(draw, config, 2, 3), draw_gpt(draw, config), config)
    require_python(loss, float, "the loss")


@graded("gpt.gpt_loss", points=0.25)
def test_loss_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: more tokens than the block size, an id below 0, an id of V"""
    refuse_documented(refuses, draw, with_targets=True)

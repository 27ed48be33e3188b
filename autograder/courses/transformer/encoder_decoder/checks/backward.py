"""Checks of the gradients of the whole model."""

import numpy as np
import pytest

from autograder.courses.transformer.encoder_decoder.checks._models import (
    BIASES,
    FLOAT32_TOLERANCE,
    NO_SOURCE,
    SOURCE_MASK,
    TARGET_MASK,
    VS,
    VT,
    draw_small_model,
    draw_texts,
)
from autograder.engine.fixtures import Backward, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.student import StudentCode

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("encoder_decoder.transformer_backward", points=2)
def test_gradient(backward: Backward, draw: RandomInputs) -> None:
    """Two blocks in each stack"""
    backward(draw.normal(2, 4, VT), *draw_texts(draw), *draw_small_model(draw, n_layers=2))


@graded("encoder_decoder.transformer_backward")
def test_gradient_padding(backward: Backward, draw: RandomInputs) -> None:
    """Padding in the source and the target; a source that is all padding"""
    (params, config), texts = draw_small_model(draw, n_heads=4), draw_texts(draw)
    backward(draw.normal(2, 4, VT), *texts, params, config, SOURCE_MASK, TARGET_MASK)
    backward(draw.normal(2, 4, VT), *texts, params, config, NO_SOURCE, ~TARGET_MASK)


@graded("encoder_decoder.transformer_backward")
def test_gradient_axes(backward: Backward, draw: RandomInputs) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_small_model(draw)
    for batch, n_source, n_target in (((), 5, 4), ((2, 2), 3, 4), ((1,), 1, 1)):
        texts = draw.integers(*batch, n_source, high=VS), draw.integers(*batch, n_target, high=VT)
        backward(draw.normal(*batch, n_target, VT), *texts, params, config)


@graded("encoder_decoder.transformer_backward")
def test_gradient_biases_absent(backward: Backward, draw: RandomInputs) -> None:
    """Without biases: no gradients for them"""
    backward(draw.normal(2, 4, VT), *draw_texts(draw), *draw_small_model(draw, without=BIASES))


@graded("encoder_decoder.transformer_backward", points=0.5)
def test_gradient_pre_norm(backward: Backward, draw: RandomInputs) -> None:
    """Pre-norm, with a layer norm after each stack"""
    backward(draw.normal(2, 4, VT), *draw_texts(draw), *draw_small_model(draw, n_layers=2, norm="pre"))


@graded("encoder_decoder.transformer_backward", points=0.25)
def test_gradient_head_bias(backward: Backward, draw: RandomInputs) -> None:
    """A head with a bias"""
    backward(draw.normal(2, 4, VT), *draw_texts(draw), *draw_small_model(draw, head_bias=True))


@graded("encoder_decoder.transformer_backward")
def test_gradient_repeated_tokens(backward: Backward, draw: RandomInputs) -> None:
    """Tokens that occur several times, and tokens that never occur"""
    texts = draw.integers(2, 5, low=2, high=4), draw.integers(2, 4, low=5, high=7)
    backward(draw.normal(2, 4, VT), *texts, *draw_small_model(draw))


@graded("encoder_decoder.transformer_backward")
def test_gradient_float32(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32"""
    dlog_probs = draw.normal(2, 4, VT, dtype=FLOAT32)
    params, config = draw_small_model(draw, dtype=FLOAT32)
    backward(dlog_probs, *draw_texts(draw), params, config, SOURCE_MASK, TARGET_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.transformer_backward")
def test_gradient_twice(backward: Backward, student: StudentCode, draw: RandomInputs) -> None:
    """Each cache belongs to its own forward pass and can be used twice"""
    texts, model, dlog_probs = draw_texts(draw), draw_small_model(draw), draw.normal(2, 4, VT)
    first = backward.cache(*texts, *model)
    second = backward.cache(*draw_texts(draw), *draw_small_model(draw, n_heads=4))
    backward(dlog_probs, *texts, *model, on=first)
    student.encoder_decoder.transformer_backward(dlog_probs, second)
    backward(dlog_probs, *texts, *model, on=first)


@graded("encoder_decoder.transformer_backward")
def test_gradient_inputs_kept(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The gradient and the cache are not changed"""
    cache = backward.cache(*draw_texts(draw), *draw_small_model(draw), NO_SOURCE, TARGET_MASK)
    unmodified(draw.normal(2, 4, VT), cache)

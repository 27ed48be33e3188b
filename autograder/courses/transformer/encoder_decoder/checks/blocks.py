"""Checks of one encoder block and one decoder block."""

import numpy as np
import pytest

from autograder.courses.transformer.encoder_decoder.checks._models import (
    BIASES,
    DECODER,
    ENCODER,
    FLOAT32_TOLERANCE,
    NO_SOURCE,
    SOURCE_MASK,
    TARGET_MASK,
    D,
    draw_params,
)
from autograder.engine.fixtures import Agree, Refuses, Stages, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("encoder_decoder.encoder_block", points=2)
def test_encoder_block(agree: Agree, draw: RandomInputs) -> None:
    """A norm after each step; ReLU"""
    x, params = draw.normal(2, 5, D), draw_params(draw, ENCODER)
    agree(x, params, 2)
    agree(x, params, 3, None)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_masks(agree: Agree, draw: RandomInputs) -> None:
    """A padding mask, a mask per query, a mask per head; a text that is all padding"""
    x, params = draw.normal(2, 5, D), draw_params(draw, ENCODER)
    agree(x, params, 2, SOURCE_MASK[:, None, None, :])
    agree(x, params, 2, mask=np.tri(5, k=1, dtype=bool))
    agree(x, params, 2, mask=draw.booleans(2, 2, 5, 5) | np.eye(5, dtype=bool))
    agree(x, params, 2, mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.encoder_block")
def test_encoder_block_axes(agree: Agree, draw: RandomInputs) -> None:
    """2-D and 4-D x, a single token, a single head"""
    params = draw_params(draw, ENCODER)
    agree(draw.normal(5, D), params, 2)
    agree(draw.normal(2, 3, 4, D), params, 3)
    agree(draw.normal(1, 1, D), params, 1)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_biases_absent(agree: Agree, draw: RandomInputs) -> None:
    """Without biases"""
    agree(draw.normal(2, 5, D), draw_params(draw, ENCODER, without=BIASES), 2)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(
        draw.normal(2, 5, D, dtype=FLOAT32), draw_params(draw, ENCODER, dtype=FLOAT32), 2, tolerance=FLOAT32_TOLERANCE
    )


@graded("encoder_decoder.encoder_block")
def test_encoder_block_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache names the weights and the residual stream after each step"""
    x, params = draw.normal(2, 5, D), draw_params(draw, ENCODER)
    stages(x, params, 2, mask=SOURCE_MASK[:, None, None, :])


@graded("encoder_decoder.encoder_block")
def test_encoder_block_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(2, 5, D), draw_params(draw, ENCODER), 2, mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.encoder_block", points=0.5)
def test_encoder_block_pre_norm(agree: Agree, draw: RandomInputs) -> None:
    """Both forms by name; "pre": a norm before each step"""
    x, params = draw.normal(2, 5, D), draw_params(draw, ENCODER)
    agree(x, params, 2, norm="post")
    agree(x, params, 2, SOURCE_MASK[:, None, None, :], "pre")


@graded("encoder_decoder.encoder_block", points=0.25)
def test_encoder_block_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an unknown norm"""
    refuses(draw.normal(5, D), draw_params(draw, ENCODER), 2, norm="both")


@graded("encoder_decoder.decoder_block", points=2)
def test_decoder_block(agree: Agree, draw: RandomInputs) -> None:
    """Three steps with a norm after each; longer and shorter memories"""
    x, params = draw.normal(2, 4, D), draw_params(draw, DECODER)
    agree(x, draw.normal(2, 5, D), params, 2)
    agree(x, draw.normal(2, 3, D), params, 3)
    agree(x, draw.normal(2, 4, D), params, 2, None, None)


@graded("encoder_decoder.decoder_block", points=2)
def test_decoder_block_masks(agree: Agree, draw: RandomInputs) -> None:
    """One mask for the target and another for the source"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    agree(x, memory, params, 2, np.tri(4, dtype=bool), SOURCE_MASK[:, None, None, :])
    agree(x, memory, params, 2, target_mask=np.tri(4, dtype=bool) & TARGET_MASK[:, None, None, :])
    agree(x, memory, params, 2, source_mask=draw.booleans(2, 2, 4, 5) | np.eye(4, 5, dtype=bool))
    agree(x, draw.normal(2, 4, D), params, 2, np.tri(4, dtype=bool), TARGET_MASK[:, None, None, :])


@graded("encoder_decoder.decoder_block", points=0.25)
def test_decoder_block_free_mask(agree: Agree, draw: RandomInputs) -> None:
    """A target mask that allows later positions, for each head another"""
    x, memory, mask = draw.normal(2, 4, D), draw.normal(2, 5, D), draw.booleans(2, 2, 4, 4) | np.eye(4, dtype=bool)
    agree(x, memory, draw_params(draw, DECODER), 2, target_mask=mask)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_sees_nothing(agree: Agree, draw: RandomInputs) -> None:
    """Targets that attend neither to each other nor to the source"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    agree(x, memory, params, 2, target_mask=np.tri(4, k=-1, dtype=bool), source_mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_axes(agree: Agree, draw: RandomInputs) -> None:
    """2-D and 4-D x, a single token, a memory of one token, a single head"""
    params = draw_params(draw, DECODER)
    agree(draw.normal(4, D), draw.normal(5, D), params, 2, target_mask=np.tri(4, dtype=bool))
    agree(draw.normal(2, 3, 4, D), draw.normal(2, 3, 5, D), params, 3)
    agree(draw.normal(1, 1, D), draw.normal(1, 1, D), params, 1)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_biases_absent(agree: Agree, draw: RandomInputs) -> None:
    """Without biases"""
    agree(draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER, without=BIASES), 2)


@graded("encoder_decoder.decoder_block", points=0.25)
def test_decoder_block_some_biases(agree: Agree, draw: RandomInputs) -> None:
    """Without the biases of the feed-forward network, as some models have it"""
    agree(draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER, without=("b_1", "b_2")), 2)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    x, memory = draw.normal(2, 4, D, dtype=FLOAT32), draw.normal(2, 5, D, dtype=FLOAT32)
    masks = {"target_mask": np.tri(4, dtype=bool), "source_mask": SOURCE_MASK[:, None, None, :]}
    agree(x, memory, draw_params(draw, DECODER, dtype=FLOAT32), 2, **masks, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache names both weights and the residual stream after each step"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    stages(x, memory, params, 2, np.tri(4, dtype=bool), SOURCE_MASK[:, None, None])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    masks = {"target_mask": np.tri(4, k=-1, dtype=bool), "source_mask": NO_SOURCE[:, None, None, :]}
    unmodified(draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER), 2, **masks)


@graded("encoder_decoder.decoder_block", points=0.5)
def test_decoder_block_pre_norm(agree: Agree, draw: RandomInputs) -> None:
    """Both forms by name; "pre": a norm before each step"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    agree(x, memory, params, 2, norm="post")
    agree(x, memory, params, 2, np.tri(4, dtype=bool), SOURCE_MASK[:, None, None, :], "pre")


@graded("encoder_decoder.decoder_block", points=0.25)
def test_decoder_block_pre_norm_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache names both weights and the residual stream after each step: a norm before each step"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    stages(x, memory, params, 2, target_mask=np.tri(4, dtype=bool), norm="pre")


@graded("encoder_decoder.decoder_block", points=0.25)
def test_decoder_block_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an unknown norm"""
    refuses(draw.normal(4, D), draw.normal(5, D), draw_params(draw, DECODER), 2, norm="both")

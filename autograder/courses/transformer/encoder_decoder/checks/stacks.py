"""Checks of both stacks, and of the whole model."""

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
    D,
    draw_model,
    draw_small_model,
    draw_texts,
)
from autograder.engine.fixtures import Agree, Refuses, Stages, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("encoder_decoder.encode", points=2)
def test_encode(agree: Agree, draw: RandomInputs) -> None:
    """Two blocks on scaled token vectors plus positions"""
    params, config = draw_model(draw, n_layers=2)
    agree(draw_texts(draw)[0], params, config)


@graded("encoder_decoder.encode")
def test_encode_padding(agree: Agree, draw: RandomInputs) -> None:
    """Padding is ignored; a text may be all padding"""
    (params, config), (source, _) = draw_model(draw, n_layers=2, n_heads=3), draw_texts(draw)
    agree(source, params, config, SOURCE_MASK)
    agree(source, params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.encode")
def test_encode_axes(agree: Agree, draw: RandomInputs) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_model(draw)
    agree(draw.integers(5, high=VS), params, config)
    agree(draw.integers(2, 3, 5, high=VS), params, config)
    agree(draw.integers(1, 1, high=VS), params, config)


@graded("encoder_decoder.encode")
def test_encode_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, without biases too"""
    source, _ = draw_texts(draw)
    for without in ((), BIASES):
        params, config = draw_model(draw, without=without, dtype=FLOAT32)
        agree(source, params, config, source_mask=SOURCE_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.encode")
def test_encode_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache names the stages of every block"""
    (params, config), (source, _) = draw_model(draw, n_layers=2), draw_texts(draw)
    stages(source, params, config, source_mask=SOURCE_MASK)


@graded("encoder_decoder.encode")
def test_encode_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The source, the parameters and the mask are not changed"""
    params, config = draw_model(draw)
    unmodified(draw_texts(draw)[0], params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.encode", points=0.25)
def test_encode_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: a negative id, an id that is too large"""
    params, config = draw_model(draw)
    refuses(np.array([[1, -1, 2]], np.int64), params, config)
    refuses(np.array([[1, VS, 2]], np.int64), params, config)


@graded("encoder_decoder.encode", points=0.5)
def test_encode_pre_norm(agree: Agree, draw: RandomInputs) -> None:
    """Pre-norm: a layer norm after the last block"""
    params, config = draw_model(draw, n_layers=2, norm="pre")
    agree(draw_texts(draw)[0], params, config)


@graded("encoder_decoder.decode", points=2)
def test_decode(agree: Agree, draw: RandomInputs) -> None:
    """Two blocks that attend to the same memory, and never to later positions"""
    params, config = draw_model(draw, n_layers=2)
    agree(draw_texts(draw)[1], draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode", points=2)
def test_decode_padding(agree: Agree, draw: RandomInputs) -> None:
    """Padding in the target, in the source, in both"""
    (params, config), (_, target), memory = draw_model(draw, n_heads=3), draw_texts(draw), draw.normal(2, 5, D)
    agree(target, memory, params, config, TARGET_MASK)
    agree(target, memory, params, config, source_mask=SOURCE_MASK)
    agree(target, memory, params, config, TARGET_MASK, SOURCE_MASK)


@graded("encoder_decoder.decode")
def test_decode_sees_nothing(agree: Agree, draw: RandomInputs) -> None:
    """Padding before the target; a source that is all padding"""
    (params, config), (_, target), memory = draw_model(draw), draw_texts(draw), draw.normal(2, 5, D)
    agree(target, memory, params, config, target_mask=~TARGET_MASK, source_mask=NO_SOURCE)


@graded("encoder_decoder.decode")
def test_decode_axes(agree: Agree, draw: RandomInputs) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_model(draw)
    agree(draw.integers(4, high=VT), draw.normal(5, D), params, config)
    agree(draw.integers(2, 3, 4, high=VT), draw.normal(2, 3, 5, D), params, config)
    agree(draw.integers(1, 1, high=VT), draw.normal(1, 1, D), params, config)


@graded("encoder_decoder.decode")
def test_decode_large(agree: Agree, draw: RandomInputs) -> None:
    """Scores in the thousands: no overflow, no log of 0"""
    (params, config), (_, target) = draw_model(draw), draw_texts(draw)
    params["W_head"] *= 1024
    agree(target, draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode", points=0.5)
def test_decode_pre_norm(agree: Agree, draw: RandomInputs) -> None:
    """Pre-norm: a layer norm after the last block"""
    params, config = draw_model(draw, n_layers=2, norm="pre")
    agree(draw_texts(draw)[1], draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode", points=0.25)
def test_decode_head_bias(agree: Agree, draw: RandomInputs) -> None:
    """A head with a bias"""
    params, config = draw_model(draw, head_bias=True)
    agree(draw_texts(draw)[1], draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode")
def test_decode_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, without biases too"""
    (_, target), memory = draw_texts(draw), draw.normal(2, 5, D, dtype=FLOAT32)
    for without in ((), BIASES):
        params, config = draw_model(draw, without=without, dtype=FLOAT32)
        agree(
            target,
            memory,
            params,
            config,
            target_mask=TARGET_MASK,
            source_mask=SOURCE_MASK,
            tolerance=FLOAT32_TOLERANCE,
        )


@graded("encoder_decoder.decode")
def test_decode_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache names the stages of every block"""
    (params, config), (_, target) = draw_model(draw, n_layers=2), draw_texts(draw)
    stages(target, draw.normal(2, 5, D), params, config, TARGET_MASK, SOURCE_MASK)


@graded("encoder_decoder.decode")
def test_decode_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    (params, config), (_, target) = draw_model(draw), draw_texts(draw)
    unmodified(target, draw.normal(2, 5, D), params, config, target_mask=~TARGET_MASK, source_mask=NO_SOURCE)


@graded("encoder_decoder.decode", points=0.25)
def test_decode_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: a negative id, an id that is too large"""
    (params, config), memory = draw_model(draw), draw.normal(1, 5, D)
    refuses(np.array([[1, -1, 2]], np.int64), memory, params, config)
    refuses(np.array([[1, VT, 2]], np.int64), memory, params, config)


@graded("encoder_decoder.transformer", points=2)
def test_transformer(agree: Agree, draw: RandomInputs) -> None:
    """Both stacks, two blocks each"""
    agree(*draw_texts(draw), *draw_small_model(draw, n_layers=2))


@graded("encoder_decoder.transformer")
def test_transformer_padding(agree: Agree, draw: RandomInputs) -> None:
    """Padding in the source and the target; a source that is all padding"""
    (params, config), texts = draw_small_model(draw, n_heads=4), draw_texts(draw)
    agree(*texts, params, config, SOURCE_MASK, TARGET_MASK)
    agree(*texts, params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.transformer")
def test_transformer_axes(agree: Agree, draw: RandomInputs) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_small_model(draw)
    agree(draw.integers(5, high=VS), draw.integers(4, high=VT), params, config)
    agree(draw.integers(2, 3, 4, high=VS), draw.integers(2, 3, 5, high=VT), params, config)
    agree(draw.integers(1, 1, high=VS), draw.integers(1, 1, high=VT), params, config)


@graded("encoder_decoder.transformer")
def test_transformer_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, without biases"""
    params, config = draw_small_model(draw, without=BIASES, dtype=FLOAT32)
    agree(*draw_texts(draw), params, config, SOURCE_MASK, TARGET_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.transformer")
def test_transformer_stages(stages: Stages, draw: RandomInputs) -> None:
    """The cache names the stages of both stacks, and the memory"""
    stages(*draw_texts(draw), *draw_small_model(draw), SOURCE_MASK, TARGET_MASK)


@graded("encoder_decoder.transformer")
def test_transformer_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(*draw_texts(draw), *draw_small_model(draw), source_mask=NO_SOURCE, target_mask=~TARGET_MASK)


@graded("encoder_decoder.transformer", points=0.25)
def test_transformer_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: negative ids, ids that are too large for their vocabulary"""
    params, config = draw_small_model(draw)
    for wrong in (-1, VS):
        refuses(np.array([[1, wrong, 2]], np.int64), np.array([[1, 3]], np.int64), params, config)
    for wrong in (-1, VT):
        refuses(np.array([[1, 4, 2]], np.int64), np.array([[1, wrong]], np.int64), params, config)

"""Checks of greedy decoding."""

import numpy as np
import pytest

from autograder.courses.transformer.encoder_decoder.checks._models import (
    SOURCE_MASK,
    VS,
    draw_model,
    draw_texts,
    draw_writer,
)
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs
from autograder.engine.reference import Reference

graded = pytest.mark.graded
FLOAT32 = np.float32


@graded("encoder_decoder.greedy_decode", points=2)
def test_greedy(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """Texts that end at different times; shorter ones are filled with the end token"""
    w = draw_writer(draw, reference)
    agree(w.source, w.params, w.config, 1, w.end, max(w.lengths) + 3)


@graded("encoder_decoder.greedy_decode")
def test_greedy_cut(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """A length limit: texts that have not ended are cut off"""
    w = draw_writer(draw, reference)
    for max_length in (max(w.lengths), max(w.lengths) - 1, 1):
        agree(w.source, w.params, w.config, start=1, end=w.end, max_length=max_length)


@graded("encoder_decoder.greedy_decode")
def test_greedy_alone(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """A single text, in a batch of one and without a batch axis"""
    w = draw_writer(draw, reference)
    for row in w.source[:2]:
        agree(row[None], w.params, w.config, 1, w.end, 8)
        agree(row, w.params, w.config, 1, w.end, 8)


@graded("encoder_decoder.greedy_decode")
def test_greedy_two_blocks(agree: Agree, draw: RandomInputs) -> None:
    """Two blocks, another start token, texts in two axes"""
    params, config = draw_model(draw, n_layers=2, n_heads=3)
    for start in (0, 5):
        agree(draw.integers(2, 3, 4, high=VS), params, config, start, 2, 6)


@graded("encoder_decoder.greedy_decode")
def test_greedy_padding(agree: Agree, draw: RandomInputs) -> None:
    """Padding in the source is ignored; a source may be all padding"""
    for _ in range(2):
        params, config = draw_model(draw)
        keep = draw.booleans(12, 5)
        keep[0] = False
        agree(draw.integers(12, 5, high=VS), params, config, 1, 0, 6, keep)


# Zeros after the start token are the answer.
@graded("encoder_decoder.greedy_decode", alone=False)
def test_greedy_ties(agree: Agree, draw: RandomInputs) -> None:
    """Among equally probable tokens, the first is chosen"""
    (params, config), (source, _) = draw_model(draw), draw_texts(draw)
    params["W_head"] *= 0
    agree(source, params, config, 1, 3, 4)
    agree(source, params, config, 1, 0, 4)


@graded("encoder_decoder.greedy_decode")
def test_greedy_start_is_end(agree: Agree, draw: RandomInputs) -> None:
    """The start token does not end a text, even if it equals the end token"""
    params, config = draw_model(draw)
    source = draw.integers(8, 5, high=VS)
    agree(source, params, config, 2, 2, 5)


@graded("encoder_decoder.greedy_decode")
def test_greedy_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The source, the parameters and the mask are not changed"""
    (params, config), (source, _) = draw_model(draw), draw_texts(draw)
    unmodified(source, params, config, 1, 2, 4, source_mask=SOURCE_MASK)


@graded("encoder_decoder.greedy_decode", points=0.25)
def test_greedy_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: a negative source id, a source id that is too large"""
    params, config = draw_model(draw)
    refuses(np.array([[1, -1, 2]], np.int64), params, config, 1, 2, 4)
    refuses(np.array([[1, VS, 2]], np.int64), params, config, 1, 2, 4)

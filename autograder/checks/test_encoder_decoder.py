"""Checks of assignment 12: the encoder–decoder."""

import numpy as np
import pytest

from autograder.checks._encoder_decoder import (
    DECODER,
    ENCODER,
    VS,
    VT,
    D,
    Stages,
    draw_model,
    draw_params,
    draw_small_model,
    draw_texts,
    draw_writer,
)
from autograder.compare import Tolerance
from autograder.draw import Draw
from autograder.fixtures import Agree, Backward, Unmodified
from autograder.proxies import Student
from autograder.reference import Reference

graded = pytest.mark.graded
FLOAT32 = np.float32
BIASES = ("b_qkv", "b_o", "b_1", "b_2")

# Where the numbers of a vector happen to be nearly equal, a layer norm enlarges what float32 rounds off, and there are
# several in a row. What is to be seen here is the dtype; the values are judged in float64.
FLOAT32_TOLERANCE = Tolerance(relative=1e-3, floor=1e-4)

ENCODER_STAGES = ("weights", "after_attention", "after_ffn")
DECODER_STAGES = ("weights", "source_weights", "after_attention", "after_source_attention", "after_ffn")

# Real tokens of two sources of 5 and of two targets of 4.
SOURCE_MASK = np.array([[True, True, True, False, False], [True, True, True, True, False]])
TARGET_MASK = np.array([[True, True, True, False], [True, False, True, True]])
# The second text is nothing but padding.
NO_SOURCE = np.array([[True, True, False, True, True], [False] * 5])


@pytest.fixture(scope="session")
def stages(student: Student, reference: Reference) -> Stages:
    """`stages("encode", ["source_embedded", …], source, params, config, …)`."""
    return Stages(student, reference)


@graded("encoder_decoder.encoder_block", points=2)
def test_encoder_block(agree: Agree, draw: Draw) -> None:
    """The norm after each step, ReLU inside"""
    x, params = draw.normal(2, 5, D), draw_params(draw, ENCODER)
    agree(x, params, 2)
    agree(x, params, 3, None)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_masks(agree: Agree, draw: Draw) -> None:
    """A padding mask, one for each query, one for each head; a text that is all padding"""
    x, params = draw.normal(2, 5, D), draw_params(draw, ENCODER)
    agree(x, params, 2, SOURCE_MASK[:, None, None, :])
    agree(x, params, 2, mask=np.tri(5, k=1, dtype=bool))
    agree(x, params, 2, mask=draw.booleans(2, 2, 5, 5) | np.eye(5, dtype=bool))
    agree(x, params, 2, mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.encoder_block")
def test_encoder_block_axes(agree: Agree, draw: Draw) -> None:
    """2-D and 4-D x, a single token, a single head"""
    params = draw_params(draw, ENCODER)
    agree(draw.normal(5, D), params, 2)
    agree(draw.normal(2, 3, 4, D), params, 3)
    agree(draw.normal(1, 1, D), params, 1)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_biases_absent(agree: Agree, draw: Draw) -> None:
    """Without biases"""
    agree(draw.normal(2, 5, D), draw_params(draw, ENCODER, without=BIASES), 2)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, integers become float64"""
    agree(
        draw.normal(2, 5, D, dtype=FLOAT32), draw_params(draw, ENCODER, dtype=FLOAT32), 2, tolerance=FLOAT32_TOLERANCE
    )
    agree(draw.integers(2, 5, D, low=-3, high=4), draw_params(draw, ENCODER), 2)


@graded("encoder_decoder.encoder_block")
def test_encoder_block_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the weights and the stream after each step"""
    x, params = draw.normal(2, 5, D), draw_params(draw, ENCODER)
    stages("encoder_block", [*ENCODER_STAGES], x, params, 2, mask=SOURCE_MASK[:, None, None, :])


@graded("encoder_decoder.encoder_block")
def test_encoder_block_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    unmodified(draw.normal(2, 5, D), draw_params(draw, ENCODER), 2, mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.decoder_block", points=2)
def test_decoder_block(agree: Agree, draw: Draw) -> None:
    """Three steps, the norm after each; longer and shorter memories"""
    x, params = draw.normal(2, 4, D), draw_params(draw, DECODER)
    agree(x, draw.normal(2, 5, D), params, 2)
    agree(x, draw.normal(2, 3, D), params, 3)
    agree(x, draw.normal(2, 4, D), params, 2, None, None)


@graded("encoder_decoder.decoder_block", points=2)
def test_decoder_block_masks(agree: Agree, draw: Draw) -> None:
    """One mask for the target, another one for the source"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    agree(x, memory, params, 2, np.tri(4, dtype=bool), SOURCE_MASK[:, None, None, :])
    agree(x, memory, params, 2, target_mask=np.tri(4, dtype=bool) & TARGET_MASK[:, None, None, :])
    agree(x, memory, params, 2, source_mask=draw.booleans(2, 2, 4, 5) | np.eye(4, 5, dtype=bool))
    agree(x, draw.normal(2, 4, D), params, 2, np.tri(4, dtype=bool), TARGET_MASK[:, None, None, :])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_sees_nothing(agree: Agree, draw: Draw) -> None:
    """Targets that see nothing of each other, and nothing of the source"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    agree(x, memory, params, 2, target_mask=np.tri(4, k=-1, dtype=bool), source_mask=NO_SOURCE[:, None, None, :])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_axes(agree: Agree, draw: Draw) -> None:
    """2-D and 4-D x, a single token, a memory of one, a single head"""
    params = draw_params(draw, DECODER)
    agree(draw.normal(4, D), draw.normal(5, D), params, 2, target_mask=np.tri(4, dtype=bool))
    agree(draw.normal(2, 3, 4, D), draw.normal(2, 3, 5, D), params, 3)
    agree(draw.normal(1, 1, D), draw.normal(1, 1, D), params, 1)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_biases_absent(agree: Agree, draw: Draw) -> None:
    """Without biases, and without some of them"""
    x, memory = draw.normal(2, 4, D), draw.normal(2, 5, D)
    agree(x, memory, draw_params(draw, DECODER, without=BIASES), 2)
    agree(x, memory, draw_params(draw, DECODER, without=("b_o", "b_1")), 2)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, integers become float64"""
    x, memory = draw.normal(2, 4, D, dtype=FLOAT32), draw.normal(2, 5, D, dtype=FLOAT32)
    masks = {"target_mask": np.tri(4, dtype=bool), "source_mask": SOURCE_MASK[:, None, None, :]}
    agree(x, memory, draw_params(draw, DECODER, dtype=FLOAT32), 2, **masks, tolerance=FLOAT32_TOLERANCE)
    x, memory = draw.integers(2, 4, D, low=-3, high=4), draw.integers(2, 5, D, low=-3, high=4)
    agree(x, memory, draw_params(draw, DECODER), 2)


@graded("encoder_decoder.decoder_block")
def test_decoder_block_stages(stages: Stages, draw: Draw) -> None:
    """The cache names both weights and the stream after each step"""
    x, memory, params = draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER)
    stages("decoder_block", [*DECODER_STAGES], x, memory, params, 2, np.tri(4, dtype=bool), SOURCE_MASK[:, None, None])


@graded("encoder_decoder.decoder_block")
def test_decoder_block_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    masks = {"target_mask": np.tri(4, k=-1, dtype=bool), "source_mask": NO_SOURCE[:, None, None, :]}
    unmodified(draw.normal(2, 4, D), draw.normal(2, 5, D), draw_params(draw, DECODER), 2, **masks)


@graded("encoder_decoder.encode", points=2)
def test_encode(agree: Agree, draw: Draw) -> None:
    """Two blocks on scaled token vectors plus positions"""
    params, config = draw_model(draw, n_layers=2)
    agree(draw_texts(draw)[0], params, config)


@graded("encoder_decoder.encode")
def test_encode_padding(agree: Agree, draw: Draw) -> None:
    """Padding is not looked at; a text may be all padding"""
    (params, config), (source, _) = draw_model(draw, n_layers=2, n_heads=3), draw_texts(draw)
    agree(source, params, config, SOURCE_MASK)
    agree(source, params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.encode")
def test_encode_axes(agree: Agree, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_model(draw)
    agree(draw.integers(5, high=VS), params, config, source_mask=SOURCE_MASK[0])
    agree(draw.integers(2, 3, 5, high=VS), params, config, source_mask=draw.booleans(2, 3, 5))
    agree(draw.integers(1, 1, high=VS), params, config)


@graded("encoder_decoder.encode")
def test_encode_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, without biases too"""
    source, _ = draw_texts(draw)
    for without in ((), BIASES):
        params, config = draw_model(draw, without=without, dtype=FLOAT32)
        agree(source, params, config, source_mask=SOURCE_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.encode")
def test_encode_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the stages of every block"""
    (params, config), (source, _) = draw_model(draw, n_layers=2), draw_texts(draw)
    names = ["source_embedded", *(f"encoder.{i}.{name}" for i in range(2) for name in ENCODER_STAGES)]
    stages("encode", names, source, params, config, source_mask=SOURCE_MASK)


@graded("encoder_decoder.encode")
def test_encode_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The source, the parameters and the mask are left as they were"""
    params, config = draw_model(draw)
    unmodified(draw_texts(draw)[0], params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.decode", points=2)
def test_decode(agree: Agree, draw: Draw) -> None:
    """Two blocks that look at the same memory, and never ahead"""
    params, config = draw_model(draw, n_layers=2)
    agree(draw_texts(draw)[1], draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode", points=2)
def test_decode_padding(agree: Agree, draw: Draw) -> None:
    """Padding in the target, in the source, in both"""
    (params, config), (_, target), memory = draw_model(draw, n_heads=3), draw_texts(draw), draw.normal(2, 5, D)
    agree(target, memory, params, config, TARGET_MASK)
    agree(target, memory, params, config, source_mask=SOURCE_MASK)
    agree(target, memory, params, config, TARGET_MASK, SOURCE_MASK)


@graded("encoder_decoder.decode")
def test_decode_sees_nothing(agree: Agree, draw: Draw) -> None:
    """Padding in front of the target, a source that is all padding"""
    (params, config), (_, target), memory = draw_model(draw), draw_texts(draw), draw.normal(2, 5, D)
    agree(target, memory, params, config, target_mask=~TARGET_MASK, source_mask=NO_SOURCE)


@graded("encoder_decoder.decode")
def test_decode_axes(agree: Agree, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_model(draw)
    masks = {"target_mask": TARGET_MASK[0], "source_mask": SOURCE_MASK[0]}
    agree(draw.integers(4, high=VT), draw.normal(5, D), params, config, **masks)
    masks = {"target_mask": draw.booleans(2, 3, 4), "source_mask": draw.booleans(2, 3, 5)}
    agree(draw.integers(2, 3, 4, high=VT), draw.normal(2, 3, 5, D), params, config, **masks)
    agree(draw.integers(1, 1, high=VT), draw.normal(1, 1, D), params, config)


@graded("encoder_decoder.decode")
def test_decode_large(agree: Agree, draw: Draw) -> None:
    """Scores in the thousands: no overflow, no log of 0"""
    (params, config), (_, target) = draw_model(draw), draw_texts(draw)
    params["W_head"] *= 1024
    agree(target, draw.normal(2, 5, D), params, config)


@graded("encoder_decoder.decode")
def test_decode_dtypes(agree: Agree, draw: Draw) -> None:
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
def test_decode_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the stages of every block"""
    (params, config), (_, target) = draw_model(draw, n_layers=2), draw_texts(draw)
    names = ["target_embedded", *(f"decoder.{i}.{name}" for i in range(2) for name in DECODER_STAGES)]
    stages("decode", names, target, draw.normal(2, 5, D), params, config, TARGET_MASK, SOURCE_MASK)


@graded("encoder_decoder.decode")
def test_decode_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    (params, config), (_, target) = draw_model(draw), draw_texts(draw)
    unmodified(target, draw.normal(2, 5, D), params, config, target_mask=~TARGET_MASK, source_mask=NO_SOURCE)


@graded("encoder_decoder.transformer", points=2)
def test_transformer(agree: Agree, draw: Draw) -> None:
    """Both stacks, two blocks each"""
    agree(*draw_texts(draw), *draw_small_model(draw, n_layers=2))


@graded("encoder_decoder.transformer")
def test_transformer_padding(agree: Agree, draw: Draw) -> None:
    """Padding in the source and in the target, a source that is all padding"""
    (params, config), texts = draw_small_model(draw, n_heads=4), draw_texts(draw)
    agree(*texts, params, config, SOURCE_MASK, TARGET_MASK)
    agree(*texts, params, config, source_mask=NO_SOURCE)


@graded("encoder_decoder.transformer")
def test_transformer_axes(agree: Agree, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_small_model(draw)
    agree(draw.integers(5, high=VS), draw.integers(4, high=VT), params, config, SOURCE_MASK[0], TARGET_MASK[0])
    agree(draw.integers(2, 3, 4, high=VS), draw.integers(2, 3, 5, high=VT), params, config)
    agree(draw.integers(1, 1, high=VS), draw.integers(1, 1, high=VT), params, config)


@graded("encoder_decoder.transformer")
def test_transformer_dtypes(agree: Agree, draw: Draw) -> None:
    """float32 stays float32, without biases"""
    params, config = draw_small_model(draw, without=BIASES, dtype=FLOAT32)
    agree(*draw_texts(draw), params, config, SOURCE_MASK, TARGET_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.transformer")
def test_transformer_stages(stages: Stages, draw: Draw) -> None:
    """The cache names the stages of both stacks, and the memory"""
    names = ["source_embedded", *(f"encoder.0.{name}" for name in ENCODER_STAGES), "memory"]
    names += ["target_embedded", *(f"decoder.0.{name}" for name in DECODER_STAGES)]
    stages("transformer", names, *draw_texts(draw), *draw_small_model(draw), SOURCE_MASK, TARGET_MASK)


@graded("encoder_decoder.transformer")
def test_transformer_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The inputs are left as they were"""
    unmodified(*draw_texts(draw), *draw_small_model(draw), source_mask=NO_SOURCE, target_mask=~TARGET_MASK)


@graded("encoder_decoder.greedy_decode", points=2)
def test_greedy(agree: Agree, reference: Reference, draw: Draw) -> None:
    """Texts that end at different times: the ended ones are filled with the end token"""
    w = draw_writer(draw, reference)
    agree(w.source, w.params, w.config, 1, w.end, max(w.lengths) + 3)


@graded("encoder_decoder.greedy_decode")
def test_greedy_cut(agree: Agree, reference: Reference, draw: Draw) -> None:
    """No room for more: texts that have not ended are cut"""
    w = draw_writer(draw, reference)
    for max_length in (max(w.lengths), max(w.lengths) - 1, 1):
        agree(w.source, w.params, w.config, start=1, end=w.end, max_length=max_length)


@graded("encoder_decoder.greedy_decode")
def test_greedy_alone(agree: Agree, reference: Reference, draw: Draw) -> None:
    """A single text, in a batch of one and without a batch axis"""
    w = draw_writer(draw, reference)
    for row in w.source[:2]:
        agree(row[None], w.params, w.config, 1, w.end, 8)
        agree(row, w.params, w.config, 1, w.end, 8)


@graded("encoder_decoder.greedy_decode")
def test_greedy_two_blocks(agree: Agree, draw: Draw) -> None:
    """Two blocks, another start token, texts in two axes"""
    params, config = draw_model(draw, n_layers=2, n_heads=3)
    for start in (0, 5):
        agree(draw.integers(2, 3, 4, high=VS), params, config, start, 2, 6)


@graded("encoder_decoder.greedy_decode")
def test_greedy_padding(agree: Agree, draw: Draw) -> None:
    """Padding in the source is not looked at; a source may be all padding"""
    for _ in range(2):
        params, config = draw_model(draw)
        keep = draw.booleans(12, 5)
        keep[0] = False
        agree(draw.integers(12, 5, high=VS), params, config, 1, 0, 6, keep)


@graded("encoder_decoder.greedy_decode")
def test_greedy_ties(agree: Agree, draw: Draw) -> None:
    """Of equally probable tokens the first is taken"""
    (params, config), (source, _) = draw_model(draw), draw_texts(draw)
    params["W_head"] *= 0
    agree(source, params, config, 1, 3, 4)
    agree(source, params, config, 1, 0, 4)


@graded("encoder_decoder.greedy_decode")
def test_greedy_start_is_end(agree: Agree, draw: Draw) -> None:
    """The start token in front ends nothing, even if it is the end token"""
    params, config = draw_model(draw)
    source = draw.integers(8, 5, high=VS)
    agree(source, params, config, 2, 2, 5)


@graded("encoder_decoder.greedy_decode")
def test_greedy_inputs_kept(unmodified: Unmodified, draw: Draw) -> None:
    """The source, the parameters and the mask are left as they were"""
    (params, config), (source, _) = draw_model(draw), draw_texts(draw)
    unmodified(source, params, config, 1, 2, 4, source_mask=SOURCE_MASK)


@graded("encoder_decoder.transformer_backward", points=2)
def test_gradient(backward: Backward, draw: Draw) -> None:
    """Two blocks in each stack"""
    backward(draw.normal(2, 4, VT), *draw_texts(draw), *draw_small_model(draw, n_layers=2))


@graded("encoder_decoder.transformer_backward")
def test_gradient_padding(backward: Backward, draw: Draw) -> None:
    """Padding in the source and in the target, a source that is all padding"""
    (params, config), texts = draw_small_model(draw, n_heads=4), draw_texts(draw)
    backward(draw.normal(2, 4, VT), *texts, params, config, SOURCE_MASK, TARGET_MASK)
    backward(draw.normal(2, 4, VT), *texts, params, config, NO_SOURCE, ~TARGET_MASK)


@graded("encoder_decoder.transformer_backward")
def test_gradient_axes(backward: Backward, draw: Draw) -> None:
    """One text, texts in two axes, a single token"""
    params, config = draw_small_model(draw)
    for batch, n_source, n_target in (((), 5, 4), ((2, 2), 3, 4), ((1,), 1, 1)):
        texts = draw.integers(*batch, n_source, high=VS), draw.integers(*batch, n_target, high=VT)
        backward(draw.normal(*batch, n_target, VT), *texts, params, config)


@graded("encoder_decoder.transformer_backward")
def test_gradient_biases_absent(backward: Backward, draw: Draw) -> None:
    """No bias, no gradient for it"""
    backward(draw.normal(2, 4, VT), *draw_texts(draw), *draw_small_model(draw, without=BIASES))


@graded("encoder_decoder.transformer_backward")
def test_gradient_repeated_tokens(backward: Backward, draw: Draw) -> None:
    """Tokens that come several times, and tokens that never come"""
    texts = draw.integers(2, 5, low=2, high=4), draw.integers(2, 4, low=5, high=7)
    backward(draw.normal(2, 4, VT), *texts, *draw_small_model(draw))


@graded("encoder_decoder.transformer_backward")
def test_gradient_float32(backward: Backward, draw: Draw) -> None:
    """float32 stays float32"""
    dlog_probs = draw.normal(2, 4, VT, dtype=FLOAT32)
    params, config = draw_small_model(draw, dtype=FLOAT32)
    backward(dlog_probs, *draw_texts(draw), params, config, SOURCE_MASK, TARGET_MASK, tolerance=FLOAT32_TOLERANCE)


@graded("encoder_decoder.transformer_backward")
def test_gradient_twice(backward: Backward, student: Student, draw: Draw) -> None:
    """Each cache remembers its own forward pass, for as often as it is asked"""
    texts, model, dlog_probs = draw_texts(draw), draw_small_model(draw), draw.normal(2, 4, VT)
    first = backward.cache(*texts, *model)
    second = backward.cache(*draw_texts(draw), *draw_small_model(draw, n_heads=4))
    backward(dlog_probs, *texts, *model, on=first)
    student.encoder_decoder.transformer_backward(dlog_probs, second)
    backward(dlog_probs, *texts, *model, on=first)


@graded("encoder_decoder.transformer_backward")
def test_gradient_inputs_kept(backward: Backward, unmodified: Unmodified, draw: Draw) -> None:
    """The gradient and the cache are left as they were"""
    cache = backward.cache(*draw_texts(draw), *draw_small_model(draw), NO_SOURCE, TARGET_MASK)
    unmodified(draw.normal(2, 4, VT), cache)

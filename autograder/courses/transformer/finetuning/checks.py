"""Checks of `finetuning`: conversations as tokens, the loss over answers, LoRA, and learning from preferences."""

from typing import Any

import numpy as np
import pytest

from autograder.engine.comparison.compare import TOLERANCES, require_python
from autograder.engine.fixtures import Agree, Backward, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
EXAMPLE = "finetuning.chat_example"
LOSS = "finetuning.answer_loss"
LORA = "finetuning.lora_linear"
LORA_BACKWARD = "finetuning.lora_linear_backward"
DPO = "finetuning.dpo_loss"
FLOAT32 = np.float32
SPECIAL = {"user": 21, "assistant": 22, "end": 20}


def _turns(draw: RandomInputs, *lengths: tuple[int, int]) -> list[tuple[list[int], list[int]]]:
    """Return a conversation with questions and answers of these lengths."""
    return [(draw.integers(q, high=20).tolist(), draw.integers(a, high=20).tolist()) for q, a in lengths]


@graded(EXAMPLE, points=2)
def test_example_one_turn(agree: Agree, draw: RandomInputs) -> None:
    """One question and its answer"""
    agree(_turns(draw, (3, 2)), SPECIAL)
    agree(_turns(draw, (2, 4)), SPECIAL)


@graded(EXAMPLE, points=2)
def test_example_several_turns(agree: Agree, draw: RandomInputs) -> None:
    """Several questions and answers: all answers count"""
    agree(_turns(draw, (2, 1), (3, 2)), SPECIAL)
    agree(_turns(draw, (1, 3), (4, 2), (2, 5)), SPECIAL)


@graded(EXAMPLE)
def test_example_empty_parts(agree: Agree, draw: RandomInputs) -> None:
    """An empty question, and an empty answer: only its end counts"""
    agree(_turns(draw, (0, 3)), SPECIAL)
    agree(_turns(draw, (3, 0), (2, 2)), SPECIAL)
    agree(_turns(draw, (2, 2), (0, 0)), SPECIAL)


@graded(EXAMPLE)
def test_example_arrays(agree: Agree, draw: RandomInputs) -> None:
    """Questions and answers that are arrays; other special tokens"""
    special = {"end": 0, "user": 102, "assistant": 101}
    agree([(draw.integers(n, low=1, high=100), draw.integers(n + 1, low=1, high=100)) for n in (2, 4)], special)


@graded(EXAMPLE, points=0.5)
def test_example_special_tokens(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a special token in a question, or in an answer"""
    for token in SPECIAL.values():
        for part in (0, 1):
            turns = _turns(draw, (3, 2), (2, 3))
            turns[part][part].insert(1, token)
            refuses(turns, SPECIAL)


@graded(EXAMPLE, points=0.25)
def test_example_no_turn(refuses: Refuses) -> None:
    """The documented error: no turn"""
    refuses([], SPECIAL)


@graded(EXAMPLE, points=0.5)
def test_example_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The conversation is not changed"""
    unmodified([(draw.integers(n, high=20), draw.integers(2, high=20)) for n in (2, 4)], SPECIAL)
    unmodified(_turns(draw, (2, 3), (3, 1)), SPECIAL)


def _batch(draw: RandomInputs, *shape: int, dtype: Any = np.float64, true: float = 0.5) -> tuple[Array, Array, Array]:
    """Return logits of this shape, targets and a mask, of which at least the last one is True."""
    mask = draw.booleans(*shape[:-1], true=true)
    mask[(-1,) * mask.ndim] = True
    return draw.normal(*shape, scale=2, dtype=dtype), draw.integers(*shape[:-1], high=shape[-1]), mask


@graded(LOSS, points=2)
def test_loss_one_text(agree: Agree, draw: RandomInputs) -> None:
    """A text, of which the second half counts"""
    for length in (6, 9):
        logits, targets, _ = _batch(draw, length, 5)
        agree(logits, targets, np.arange(length) >= length // 2)


@graded(LOSS, points=2)
def test_loss_batch(agree: Agree, draw: RandomInputs) -> None:
    """A batch of texts with answers of different lengths; one has none"""
    logits, targets, _ = _batch(draw, 4, 6, 5)
    agree(logits, targets, np.arange(6) >= np.array([[4], [1], [6], [3]]))
    agree(*_batch(draw, 3, 7, 4))


@graded(LOSS)
def test_loss_padding(agree: Agree, draw: RandomInputs) -> None:
    """Targets that do not count may be any integers"""
    for other in (-1, 5, -100, 10**6):
        logits, targets, mask = _batch(draw, 3, 6, 5)
        mask[:2, 4:] = False
        agree(logits, np.where(mask, targets, other), mask)


@graded(LOSS)
def test_loss_axes(agree: Agree, draw: RandomInputs) -> None:
    """Other leading axes; every target counts; a single one"""
    agree(*_batch(draw, 2, 3, 4, 5))
    agree(*_batch(draw, 2, 6, 3, true=1.0))
    agree(*_batch(draw, 1, 1, 4))


@graded(LOSS)
def test_loss_large(agree: Agree, draw: RandomInputs) -> None:
    """Scores of ±1000"""
    logits, targets, mask = _batch(draw, 3, 4, 5)
    agree(500 * logits, targets, mask)


@graded(LOSS)
def test_loss_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(*_batch(draw, 3, 6, 5, dtype=FLOAT32), tolerance=TOLERANCES[np.dtype(FLOAT32)])


@graded(LOSS, points=0.25)
def test_loss_type(agree: Agree, draw: RandomInputs) -> None:
    """The loss is a Python float, not an array or a NumPy scalar"""
    require_python(agree(*_batch(draw, 3, 4))[0], float, "the loss")


@graded(LOSS, points=0.25)
def test_loss_nothing_counts(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: the mask is True nowhere"""
    logits, targets, mask = _batch(draw, 2, 4, 3)
    refuses(logits, targets, np.zeros_like(mask))


@graded(LOSS, points=0.5)
def test_loss_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The logits, the targets and the mask are not changed"""
    logits, targets, mask = _batch(draw, 2, 5, 4)
    unmodified(logits, np.where(mask, targets, -1), mask)


def _layer(
    draw: RandomInputs, *shape: int, d_out: int = 4, rank: int = 2, dtype: Any = np.float64
) -> tuple[Array, ...]:
    """Return x of this shape, W, A and B."""
    shapes = (shape, (shape[-1], d_out), (shape[-1], rank), (rank, d_out))
    return tuple(draw.normal(*each, dtype=dtype) for each in shapes)


@graded(LORA, points=2)
def test_lora(agree: Agree, draw: RandomInputs) -> None:
    """A batch of rows: x W and the scaled addition"""
    agree(*_layer(draw, 3, 5), 0.7)
    agree(*_layer(draw, 6, 3, rank=3, d_out=7), 3.5)


@graded(LORA)
def test_lora_whole_alpha(agree: Agree, draw: RandomInputs) -> None:
    """Alpha is an integer, not a multiple of the rank; the rank is 1; the matrices are square"""
    for alpha, rank in ((1, 2), (8, 3), (3, 1), (3, 4)):
        agree(*_layer(draw, 2, 4, rank=rank), alpha)


@graded(LORA)
def test_lora_axes(agree: Agree, draw: RandomInputs) -> None:
    """A single vector; several leading axes"""
    for shape in ((5,), (2, 3, 5), (2, 1, 3, 5)):
        agree(*_layer(draw, *shape, rank=3), 2.0)


@graded(LORA)
def test_lora_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(*_layer(draw, 3, 5, dtype=FLOAT32), 0.3)


@graded(LORA, points=0.5)
def test_lora_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input and the matrices are not changed"""
    unmodified(*_layer(draw, 3, 5), 0.7)


@graded(LORA_BACKWARD, points=2)
def test_lora_gradient(backward: Backward, draw: RandomInputs) -> None:
    """A batch of rows"""
    backward(draw.normal(3, 4), *_layer(draw, 3, 5), 0.7)
    backward(draw.normal(6, 7), *_layer(draw, 6, 3, rank=3, d_out=7), 5)


@graded(LORA_BACKWARD)
def test_lora_gradient_start(backward: Backward, draw: RandomInputs) -> None:
    """B is 0, as before the first step: the gradient of A is 0, that of B is not"""
    x, W, A, B = _layer(draw, 4, 5, rank=3)
    backward(draw.normal(4, 4), x, W, A, 0 * B, 2.0)


@graded(LORA_BACKWARD)
def test_lora_gradient_axes(backward: Backward, draw: RandomInputs) -> None:
    """A single vector; several leading axes; square matrices"""
    for shape in ((5,), (2, 3, 5), (2, 1, 3, 4)):
        backward(draw.normal(*shape[:-1], 4), *_layer(draw, *shape, rank=3), 2.0)
    backward(draw.normal(4, 4), *_layer(draw, 4, 4, rank=4), 3.0)


@graded(LORA_BACKWARD)
def test_lora_gradient_identity(backward: Backward, draw: RandomInputs) -> None:
    """The input is the identity matrix, so that the output is the merged matrix"""
    _, W, A, B = _layer(draw, 1, 5, d_out=3)
    backward(draw.normal(5, 3), np.eye(5), W, A, B, 1.5)


@graded(LORA_BACKWARD)
def test_lora_gradient_float32(backward: Backward, draw: RandomInputs) -> None:
    """float32 stays float32"""
    backward(draw.normal(3, 4, dtype=FLOAT32), *_layer(draw, 3, 5, dtype=FLOAT32), 0.3)


@graded(LORA_BACKWARD)
def test_lora_gradient_twice(backward: Backward, draw: RandomInputs) -> None:
    """The same cache, used twice"""
    layer = *_layer(draw, 3, 5), 0.7
    cache = backward.cache(*layer)
    for _ in range(2):
        backward(draw.normal(3, 4), *layer, on=cache)


@graded(LORA_BACKWARD, points=0.5)
def test_lora_gradient_inputs_kept(backward: Backward, unmodified: Unmodified, draw: RandomInputs) -> None:
    """The upstream gradient is not changed"""
    unmodified(draw.normal(3, 4), backward.cache(*_layer(draw, 3, 5), 0.7))


def _pairs(draw: RandomInputs, n: int, dtype: Any = np.float64) -> list[Array]:
    """Return the log-probabilities of n chosen and rejected answers, by the model and by the reference."""
    return [draw.uniform(n, low=-9.0, high=-0.5, dtype=dtype) for _ in range(4)]


@graded(DPO, points=2)
def test_dpo(agree: Agree, draw: RandomInputs) -> None:
    """Several pairs"""
    agree(*_pairs(draw, 5), 0.3)
    agree(*_pairs(draw, 8), beta=1.5)


@graded(DPO)
def test_dpo_start(agree: Agree, draw: RandomInputs) -> None:
    """The model is still the reference: every margin is 0"""
    chosen, rejected, _, _ = _pairs(draw, 4)
    agree(chosen, rejected, chosen.copy(), rejected.copy(), 2 * float(draw.uniform(1, low=0.1)[0]))


@graded(DPO)
def test_dpo_default(agree: Agree, draw: RandomInputs) -> None:
    """A single pair; beta is 0.1 by default, and may be an integer"""
    agree(*_pairs(draw, 1))
    agree(*_pairs(draw, 3), 2)


@graded(DPO)
def test_dpo_far(agree: Agree, draw: RandomInputs) -> None:
    """Margins of ±1000"""
    for sign in (1, -1):
        chosen, rejected, ref_chosen, ref_rejected = _pairs(draw, 3)
        agree(chosen + sign * 500, rejected - sign * 500, ref_chosen, ref_rejected, 1.0)


@graded(DPO)
def test_dpo_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(*_pairs(draw, 4, dtype=FLOAT32), 0.7, tolerance=TOLERANCES[np.dtype(FLOAT32)])


@graded(DPO, points=0.25)
def test_dpo_type(agree: Agree, draw: RandomInputs) -> None:
    """The loss is a Python float, not an array or a NumPy scalar"""
    require_python(agree(*_pairs(draw, 3), 0.5)[0], float, "the loss")


@graded(DPO, points=0.5)
def test_dpo_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The log-probabilities are not changed"""
    unmodified(*_pairs(draw, 4), 0.5)

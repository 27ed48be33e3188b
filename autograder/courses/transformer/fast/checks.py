"""Checks of `fast`: attention in blocks, int8 weights, and the choice between a draft and the large model."""

from typing import Any

import numpy as np
import pytest

from autograder.core.wire_format import Config, GeneratorOf
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs

graded = pytest.mark.graded
STEP, ATTENTION, ACCEPT = "fast.online_softmax_step", "fast.blocked_attention", "fast.accept_draft"
QUANTIZE, LINEAR = "fast.quantize", "fast.int8_linear"
FLOAT32, INFINITY = np.float32, float("inf")
START = (-INFINITY, 0.0, 0.0)  # before the first block


def _state(draw: RandomInputs, *shape: int, dtype: Any = np.float64) -> tuple[Array, Array, Array]:
    """Return a maximum, a total and weighted sums, whose last axis has the length of `shape`'s last."""
    queries = shape[:-1]
    total = draw.uniform(*queries, low=1.0, high=4.0, dtype=dtype)
    return draw.normal(*queries, dtype=dtype), total, draw.normal(*shape, dtype=dtype)


def _masked(draw: RandomInputs) -> Array:
    """Return scores (4, 5): the first query may attend to no key, the others to some."""
    scores = draw.normal(4, 5)
    scores[0] = scores[1, :3] = scores[2, 4] = -INFINITY
    return scores


@graded(STEP, points=2)
def test_step(agree: Agree, draw: RandomInputs) -> None:
    """A block after others: with smaller scores, and with larger ones"""
    for shift in (0.0, -4.0, 4.0):
        agree(*_state(draw, 4, 3), draw.normal(4, 5) + shift, draw.normal(5, 3))


@graded(STEP)
def test_step_first(agree: Agree, draw: RandomInputs) -> None:
    """The first block"""
    agree(*START, draw.normal(4, 5), draw.normal(5, 3))
    agree(*START, draw.normal(2, 4, 1), draw.normal(2, 1, 3))


@graded(STEP)
def test_step_axes(agree: Agree, draw: RandomInputs) -> None:
    """Batches and heads; a single query; a single key"""
    for batch, queries, keys in (((2, 3), 4, 5), ((2,), 1, 6), ((), 3, 1)):
        agree(*_state(draw, *batch, queries, 3), draw.normal(*batch, queries, keys), draw.normal(*batch, keys, 3))


@graded(STEP)
def test_step_masked(agree: Agree, draw: RandomInputs) -> None:
    """Queries that may not attend to a key of the block, in the first block, too"""
    agree(*_state(draw, 4, 3), _masked(draw), draw.normal(5, 3))
    agree(*START, _masked(draw), draw.normal(5, 3))
    maximum, total, weighted = _state(draw, 4, 3)
    maximum[:2], total[:2], weighted[:2] = -INFINITY, 0.0, 0.0
    agree(maximum, total, weighted, _masked(draw), draw.normal(5, 3))


@graded(STEP)
def test_step_large(agree: Agree, draw: RandomInputs) -> None:
    """Scores of ±1000"""
    for before, shift in ((0.0, 1000.0), (1000.0, 0.0), (-1000.0, -1000.0), (1000.0, 1000.0)):
        maximum, total, weighted = _state(draw, 4, 3)
        agree(maximum + before, total, weighted, draw.normal(4, 5) + shift, draw.normal(5, 3))


@graded(STEP)
def test_step_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    scores, v = draw.normal(4, 5, dtype=FLOAT32), draw.normal(5, 3, dtype=FLOAT32)
    agree(*_state(draw, 4, 3, dtype=FLOAT32), scores, v)
    agree(*START, scores, v)


@graded(STEP)
def test_step_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(*_state(draw, 4, 3), _masked(draw), draw.normal(5, 3))


def _blocks(draw: RandomInputs, size: int, *shape: int, width: int = 3, dtype: Any = np.float64) -> Config:
    """Return the marker of `Blocks` with random keys of this shape, and values of this width."""
    k, v = draw.normal(*shape, dtype=dtype), draw.normal(*shape[:-1], width, dtype=dtype)
    return Config("fast", "Blocks", {"k": k, "v": v, "size": size})


@graded(ATTENTION, points=2)
def test_attention(agree: Agree, draw: RandomInputs) -> None:
    """No mask, three blocks of keys and values in the same memory; the last may be smaller"""
    agree(draw.normal(3, 4), _blocks(draw, 2, 6, 4))
    agree(draw.normal(5, 4), _blocks(draw, 3, 8, 4))


@graded(ATTENTION)
def test_attention_sizes(agree: Agree, draw: RandomInputs) -> None:
    """Blocks of a single key, and one block with all keys"""
    for size in (1, 6, 9):
        agree(draw.normal(3, 4), _blocks(draw, size, 6, 4))


@graded(ATTENTION, points=2)
def test_attention_causal(agree: Agree, draw: RandomInputs) -> None:
    """Causal, from position 0: each query attends to the keys up to its own position"""
    for size in (1, 3, 4, 8):
        agree(draw.normal(8, 4), _blocks(draw, size, 8, 4), start=0)


@graded(ATTENTION)
def test_attention_start(agree: Agree, draw: RandomInputs) -> None:
    """Causal, and the queries are the last positions, or some in the middle"""
    for start in (1, 4, 6):
        agree(draw.normal(2, 4), _blocks(draw, 3, 8, 4), start)


@graded(ATTENTION)
def test_attention_unread(agree: Agree, draw: RandomInputs) -> None:
    """Causal: blocks after the last query are not read, neither one of nan nor those that never end"""
    for start, size in ((0, 4), (2, 3), (5, 3)):
        blocks = [(draw.normal(size, 4), draw.normal(size, 3)) for _ in range(-(-(start + 4) // size))]
        agree(draw.normal(4, 4), GeneratorOf([*blocks, (np.full((1, 4), np.nan), np.full((1, 3), np.nan))]), start)
        agree(draw.normal(4, 4), GeneratorOf(blocks, endless=True), start=start)


@graded(ATTENTION)
def test_attention_one_unread(agree: Agree, draw: RandomInputs) -> None:
    """Causal: not even one block after the last query is read; in its place is (), which is no pair"""
    for start, size in ((0, 4), (2, 3), (5, 3)):
        blocks = [(draw.normal(size, 4), draw.normal(size, 3)) for _ in range(-(-(start + 4) // size))]
        agree(draw.normal(4, 4), GeneratorOf([*blocks, ()]), start)


@graded(ATTENTION)
def test_attention_axes(agree: Agree, draw: RandomInputs) -> None:
    """Batches and heads; a single query"""
    for batch, queries in (((2,), 4), ((2, 3), 5), ((), 1)):
        for start in (None, 2):
            agree(draw.normal(*batch, queries, 4), _blocks(draw, 3, *batch, 7, 4, width=5), start)


@graded(ATTENTION)
def test_attention_uneven(agree: Agree, draw: RandomInputs) -> None:
    """Blocks of different sizes, which can be read only once"""
    for start in (None, 1):
        items = [(draw.normal(size, 4), draw.normal(size, 3)) for size in (1, 4, 2)]
        agree(draw.normal(6, 4), GeneratorOf(items), start)


@graded(ATTENTION)
def test_attention_large(agree: Agree, draw: RandomInputs) -> None:
    """Scores of several hundred"""
    agree(draw.normal(5, 4, scale=20.0), _blocks(draw, 2, 6, 4, width=2), 0)
    agree(draw.normal(5, 4, scale=400.0), _blocks(draw, 4, 6, 4))


@graded(ATTENTION)
def test_attention_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    for start in (None, 0):
        agree(draw.normal(6, 4, dtype=FLOAT32), _blocks(draw, 2, 6, 4, dtype=FLOAT32), start)


@graded(ATTENTION)
def test_attention_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The queries are not changed"""
    for start in (None, 0):
        unmodified(draw.normal(4, 4), _blocks(draw, 3, 6, 4), start)


@graded(QUANTIZE, points=2)
def test_quantize(agree: Agree, draw: RandomInputs) -> None:
    """A scale for each column; columns of different sizes"""
    agree(draw.normal(5, 3))
    agree(draw.normal(6, 4) * np.array([0.001, 1.0, 30.0, 1e6]))


@graded(QUANTIZE)
def test_quantize_largest(agree: Agree, draw: RandomInputs) -> None:
    """The largest entry may be negative; a single row"""
    W = draw.normal(6, 4)
    W[2] = -5.0 - draw.uniform(4)
    agree(W)
    agree(draw.normal(1, 5))


@graded(QUANTIZE)
def test_quantize_zeros(agree: Agree, draw: RandomInputs) -> None:
    """Columns of zeros have the scale 1"""
    W = draw.normal(4, 5)
    W[:, [0, 3]] = 0.0
    agree(W)
    agree(np.zeros((3, 2)))


def _halves(draw: RandomInputs, dtype: Any) -> Array:
    """Return a matrix whose scales are 1/4 and 1/2, exactly; most entries are halfway between two integers."""
    W = draw.integers(7, 2, low=-120, high=120) + 0.5
    W[3] = 127.0
    return np.asarray(W * np.array([0.25, 0.5]), dtype=dtype)


@graded(QUANTIZE)
def test_quantize_halves(agree: Agree, draw: RandomInputs) -> None:
    """Halfway between two integers: rounded to the even one"""
    agree(_halves(draw, np.float64))


# In float32, numbers between two integers could be rounded to either, so they are exact here.
@graded(QUANTIZE)
def test_quantize_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32: the scales stay float32"""
    agree(_halves(draw, FLOAT32))


@graded(QUANTIZE)
def test_quantize_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The matrix is not changed"""
    W = draw.normal(4, 3)
    W[:, 1] = 0.0
    unmodified(W)


def _int8(draw: RandomInputs, n_in: int, n_out: int, dtype: Any = np.float64) -> tuple[Array, Array]:
    """Return a quantized matrix and its scales."""
    scales = draw.uniform(n_out, low=0.01, high=0.5, dtype=dtype)
    return draw.integers(n_in, n_out, low=-127, high=128).astype(np.int8), scales


@graded(LINEAR, points=2)
def test_linear(agree: Agree, draw: RandomInputs) -> None:
    """Rows of x; each output has its scale"""
    agree(draw.normal(3, 5), *_int8(draw, 5, 4))
    agree(draw.normal(4, 6), *_int8(draw, 6, 6))


@graded(LINEAR)
def test_linear_axes(agree: Agree, draw: RandomInputs) -> None:
    """A single vector, and two batch axes"""
    for shape in ((5,), (2, 3, 5), (1, 5)):
        agree(draw.normal(*shape), *_int8(draw, 5, 4))


@graded(LINEAR)
def test_linear_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(draw.normal(3, 5, dtype=FLOAT32), *_int8(draw, 5, 4, FLOAT32))


@graded(LINEAR)
def test_linear_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(3, 5), *_int8(draw, 5, 4))


def _probs(draw: RandomInputs, *shape: int) -> Array:
    """Return random probabilities; each row sums to 1."""
    weights = draw.uniform(*shape, low=0.01) ** 2
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


@graded(ACCEPT, points=2)
def test_accept_one(agree: Agree, draw: RandomInputs) -> None:
    """A draft of one token, with twenty generators"""
    for _ in range(20):
        agree(draw.integers(1, high=5), _probs(draw, 1, 5), _probs(draw, 2, 5), draw.rng())


@graded(ACCEPT, points=2)
def test_accept_several(agree: Agree, draw: RandomInputs) -> None:
    """Drafts of several tokens"""
    for n in (2, 3, 6) * 5:
        q = _probs(draw, n, 7)
        p = np.concatenate([0.75 * q + 0.25 * _probs(draw, n, 7), _probs(draw, 1, 7)])
        agree(draw.integers(n, high=7), q, p, draw.rng())


@graded(ACCEPT)
def test_accept_same_model(agree: Agree, draw: RandomInputs) -> None:
    """Both models have the same probabilities: the whole draft is kept"""
    for n in (1, 4, 5):
        p = _probs(draw, n + 1, 6)
        agree(draw.integers(n, high=6), p[:n], p, draw.rng())


@graded(ACCEPT)
def test_accept_greedy(agree: Agree, draw: RandomInputs) -> None:
    """Temperature 0: all probability on one token, which the draft has or does not have"""
    for _ in range(6):
        wanted = draw.integers(4, high=6)
        tokens = np.where(draw.booleans(3, true=0.75), wanted[:3], draw.integers(3, high=6))
        agree(tokens, np.eye(6)[tokens], np.eye(6)[wanted], draw.rng())


@graded(ACCEPT)
def test_accept_no_draft(agree: Agree, draw: RandomInputs) -> None:
    """An empty draft: one token of the large model"""
    for _ in range(4):
        agree(np.zeros(0, np.int64), np.zeros((0, 5)), _probs(draw, 1, 5), draw.rng())


@graded(ACCEPT, points=0.25)
def test_accept_rows(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: too few rows, or too many"""
    for rows in (3, 5):
        refuses(draw.integers(3, high=5), _probs(draw, 3, 5), _probs(draw, rows, 5), draw.rng())


@graded(ACCEPT)
def test_accept_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The draft and the probabilities are not changed"""
    for _ in range(4):
        unmodified(draw.integers(3, high=5), _probs(draw, 3, 5), _probs(draw, 4, 5), draw.rng())

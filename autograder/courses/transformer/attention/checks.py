"""Checks of `attention`: attention."""

from typing import Any

import numpy as np
import pytest

from autograder.courses.transformer.common.checks.masks import random_mask
from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference

graded = pytest.mark.graded
FLOAT32 = np.float32


def _qkv(
    draw: RandomInputs,
    *batch: int,
    queries: int = 3,
    keys: int = 5,
    d_k: int = 4,
    d_v: int = 6,
    dtype: Any = np.float64,
) -> tuple[Array, Array, Array]:
    """Return random queries, keys and values, every axis of a different size."""
    return (
        draw.normal(*batch, queries, d_k, dtype=dtype),
        draw.normal(*batch, keys, d_k, dtype=dtype),
        draw.normal(*batch, keys, d_v, dtype=dtype),
    )


def _with_weights(
    reference: Reference, draw: RandomInputs, qkv: tuple[Array, Array, Array], mask: Array | None = None
) -> tuple[Array, Array, Array, Array, Array]:
    """Return arguments for `attention_backward`: a random upstream gradient, q, k, v, and their correct weights."""
    q, k, v = qkv
    _, weights = reference.attention.attention(q, k, v, mask)
    return draw.normal(*q.shape[:-1], v.shape[-1], dtype=v.dtype), q, k, v, weights


def _causal(queries: int, keys: int) -> Array:
    return np.tri(queries, keys, keys - queries, dtype=bool)


@graded("attention.causal_average_matmul")
def test_average_batch(agree: Agree, draw: RandomInputs) -> None:
    """A batch: the mean of each position and all before it"""
    agree(draw.normal(2, 5, 3))


@graded("attention.causal_average_matmul")
def test_average_shapes(agree: Agree, draw: RandomInputs) -> None:
    """One text, two batch axes, a single position"""
    agree(draw.normal(4, 3))
    agree(draw.normal(2, 3, 4, 5))
    agree(draw.normal(2, 1, 3))


@graded("attention.causal_average_matmul")
def test_average_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, integers become float64"""
    agree(draw.normal(2, 5, 3, dtype=FLOAT32))
    agree(draw.integers(2, 5, 3, low=-9, high=10))


@graded("attention.causal_average_matmul")
def test_average_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.normal(2, 4, 3))


@graded("attention.causal_mask")
def test_mask_square(agree: Agree, draw: RandomInputs) -> None:
    """As many queries as keys: a query sees itself and earlier positions"""
    agree(int(draw.integers(low=4, high=60)))
    agree(4)
    agree(3, 3)


@graded("attention.causal_mask")
def test_mask_last_queries(agree: Agree, draw: RandomInputs) -> None:
    """Fewer queries than keys: the queries are the last positions"""
    agree(int(draw.integers(low=2, high=30)), int(draw.integers(low=30, high=60)))
    agree(2, 5)
    agree(4, n_keys=7)


@graded("attention.causal_mask")
def test_mask_single_query(agree: Agree) -> None:
    """A single query, a single key"""
    agree(1, 6)
    agree(1)


@graded("attention.causal_mask", points=0.25)
def test_mask_errors(refuses: Refuses) -> None:
    """The documented error: more queries than keys"""
    refuses(5, 3)
    refuses(2, n_keys=1)
    refuses(2, n_keys=0)


@graded("attention.padding_mask")
def test_padding(agree: Agree) -> None:
    """A batch of texts of different lengths"""
    agree(np.array([[True, True, True, False], [True, False, False, False], [False, True, True, True]]))


@graded("attention.padding_mask")
def test_padding_sizes(agree: Agree, draw: RandomInputs) -> None:
    """One text, one key, only padding"""
    agree(draw.booleans(1, 5))
    agree(draw.booleans(3, 1))
    agree(np.zeros((2, 3), dtype=bool))


@graded("attention.padding_mask", points=0.25)
def test_padding_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The input is not changed"""
    unmodified(draw.booleans(2, 4))


@graded("attention.attention", points=2)
def test_rectangular(agree: Agree, draw: RandomInputs) -> None:
    """Batch and heads, every axis of a different size"""
    agree(*_qkv(draw, 2, 3, queries=4, keys=5, d_k=6, d_v=7))


@graded("attention.attention")
def test_axes(agree: Agree, draw: RandomInputs) -> None:
    """No batch axis, one, and three; as many queries as keys"""
    agree(*_qkv(draw))
    agree(*_qkv(draw, 2, queries=4, keys=4))
    agree(*_qkv(draw, 2, 1, 3))


@graded("attention.attention")
def test_single(agree: Agree, draw: RandomInputs) -> None:
    """One key, one query, vectors of length 1"""
    agree(*_qkv(draw, 2, keys=1))
    agree(*_qkv(draw, 1, queries=1))
    agree(*_qkv(draw, 2, d_k=1, d_v=1))


@graded("attention.attention", points=2)
def test_causal(agree: Agree, draw: RandomInputs) -> None:
    """Causal masks, square and for the last queries"""
    agree(*_qkv(draw, 2, 3, queries=4, keys=4), mask=_causal(4, 4))
    agree(*_qkv(draw, 2, 3, queries=2), mask=_causal(2, 5))


@graded("attention.attention")
def test_other_masks(agree: Agree, draw: RandomInputs) -> None:
    """Other masks: of full shape, or shared by all queries, heads or texts"""
    q, k, v = _qkv(draw, 2, 4)
    for shape in [(2, 4, 3, 5), (2, 1, 3, 5), (2, 1, 1, 5), (4, 3, 5), (1, 5), (5,)]:
        agree(q, k, v, mask=random_mask(draw, *shape))


@graded("attention.attention", points=2)
def test_sees_nothing(agree: Agree, draw: RandomInputs) -> None:
    """A query that may attend to no key: weights 0, output 0"""
    mask = random_mask(draw, 2, 3, 5)
    mask[0, 1] = mask[1, 0] = False
    agree(*_qkv(draw, 2), mask=mask)
    padding = np.array([True, False])[:, None, None, None] & random_mask(draw, 2, 1, 1, 5)
    agree(*_qkv(draw, 2, 2), mask=padding)  # the whole second text is padding
    agree(*_qkv(draw), mask=np.zeros((3, 5), dtype=bool))


@graded("attention.attention")
def test_large_scores(agree: Agree, draw: RandomInputs) -> None:
    """Scores in the thousands: no overflow, and hidden keys get no weight"""
    q, k, v = _qkv(draw, 2)
    agree(64 * q, 64 * k, v)
    keys = np.array([[-30000.0], [0.0], [-30001.0], [30000.0]])  # with the query 1 these are the scores
    agree(np.ones((1, 1)), keys, draw.normal(4, 3), mask=np.array([[True, False, True, False]]))


@graded("attention.attention")
def test_zero_scores(agree: Agree, draw: RandomInputs) -> None:
    """Scores of exactly 0 count like any other score"""
    q, k, v = _qkv(draw, 2)
    q[:, 1] = 0.0
    agree(q, k, v, mask=random_mask(draw, 3, 5))
    agree(q, k, v)


@graded("attention.attention")
def test_float32(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32, with and without a mask"""
    q, k, v = _qkv(draw, 2, dtype=FLOAT32)
    agree(q, k, v)
    agree(q, k, v, mask=np.array([[True, True, False, False, True], [False] * 5, [True] * 5]))


@graded("attention.attention", points=0.25)
def test_integers(agree: Agree, draw: RandomInputs) -> None:
    """Integers are computed in float64"""
    q, k = draw.integers(2, 3, 4, low=-2, high=3), draw.integers(2, 5, 4, low=-2, high=3)
    agree(q, k, draw.integers(2, 5, 6, low=-9, high=10))
    agree(q, k, draw.integers(2, 5, 6, low=-9, high=10), mask=random_mask(draw, 3, 5))


@graded("attention.attention")
def test_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed, including the mask"""
    unmodified(*_qkv(draw, 2))
    unmodified(*_qkv(draw, 2), mask=np.array([[True, False, True, False, True], [False] * 5, [True] * 5]))


@graded("attention.attention", points=0.25)
def test_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented errors: a mask that is not boolean, or does not broadcast to the scores"""
    qkv, mask = _qkv(draw, 2), random_mask(draw, 3, 5)
    refuses(*qkv, mask=np.where(mask, 0.0, -np.inf), error="TypeError")  # to be added to the scores, elsewhere
    refuses(*qkv, mask=mask.astype(np.int64), error="TypeError")
    refuses(*qkv, mask=random_mask(draw, 5, 3))
    refuses(*qkv, mask=random_mask(draw, 3, 1, 5))
    refuses(*qkv, mask=random_mask(draw, 4, 1, 3, 5))  # one axis more than the scores have
    refuses(*_qkv(draw, 1), mask=random_mask(draw, 4, 3, 5))  # four texts, for the scores of one


@graded("attention.attention_backward", points=2)
def test_gradient_rectangular(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """Batch and heads, every axis of a different size"""
    agree(*_with_weights(reference, draw, _qkv(draw, 2, 3, queries=4, keys=5, d_k=6, d_v=7)))


@graded("attention.attention_backward")
def test_gradient_axes(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """No batch axis, one, and three"""
    agree(*_with_weights(reference, draw, _qkv(draw)))
    agree(*_with_weights(reference, draw, _qkv(draw, 2, queries=4, keys=4)))
    agree(*_with_weights(reference, draw, _qkv(draw, 2, 1, 3)))


@graded("attention.attention_backward")
def test_gradient_single(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """One key, one query, vectors of length 1"""
    agree(*_with_weights(reference, draw, _qkv(draw, 2, keys=1)))
    agree(*_with_weights(reference, draw, _qkv(draw, 1, queries=1, d_v=1)))
    agree(*_with_weights(reference, draw, _qkv(draw, 2, d_k=1)))


@graded("attention.attention_backward")
def test_gradient_masked(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """Weights from a causal mask and from a random one"""
    agree(*_with_weights(reference, draw, _qkv(draw, 2, queries=4, keys=4), _causal(4, 4)))
    agree(*_with_weights(reference, draw, _qkv(draw, 2, 3), random_mask(draw, 2, 1, 3, 5)))


@graded("attention.attention_backward")
def test_gradient_sees_nothing(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """A query that saw no key: gradient 0"""
    mask = random_mask(draw, 2, 3, 5)
    mask[0, 1] = mask[1] = False
    agree(*_with_weights(reference, draw, _qkv(draw, 2), mask))


@graded("attention.attention_backward")
def test_gradient_float32(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """float32 stays float32"""
    agree(*_with_weights(reference, draw, _qkv(draw, 2, dtype=FLOAT32)))


@graded("attention.attention_backward")
def test_gradient_inputs_kept(unmodified: Unmodified, reference: Reference, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(*_with_weights(reference, draw, _qkv(draw, 2)))

"""Checks of `embeddings`: token and position vectors."""

import numpy as np
import pytest

from autograder.engine.fixtures import Agree, Refuses, Unmodified
from autograder.engine.inputs import RandomInputs

graded = pytest.mark.graded
FLOAT32 = np.float32
# Texts with ids that are not in a vocabulary of five. The first one that is accepted shows what is not checked:
# anything, texts with a valid id, ids that are not the first or not the last, negative ids, large ones, 5 itself.
OUTSIDE_FIVE = ([7, -1], [7, 1, -1], [1, 7, -1], [7, -1, 1], [2, -1], [4, 8], [0, 5])


@graded("embeddings.one_hot")
def test_one_hot_text(agree: Agree, draw: RandomInputs) -> None:
    """One text: a row per token, in float64"""
    agree(draw.integers(6, high=4), 4)


@graded("embeddings.one_hot")
def test_one_hot_batch(agree: Agree, draw: RandomInputs) -> None:
    """Batches: the new axis comes last"""
    agree(draw.integers(2, 3, high=5), 5)
    agree(draw.integers(3, 1, 4, high=5), 5)


@graded("embeddings.one_hot")
def test_one_hot_vocabulary(agree: Agree) -> None:
    """Rows are as long as the vocabulary, whichever ids occur"""
    agree(np.array([1, 0, 1, 1], np.int64), 7)
    agree(np.array([0], np.int64), 1)
    agree(np.array([[3, 2]], dtype=np.int32), 4)


@graded("embeddings.one_hot", points=0.25)
def test_one_hot_single(agree: Agree) -> None:
    """A single id, and no ids"""
    agree(np.array(2, np.int64), 4)
    agree(np.zeros((2, 0), dtype=np.int64), 3)


@graded("embeddings.one_hot", points=0.25)
def test_one_hot_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids are not changed"""
    unmodified(draw.integers(2, 3, high=5), 5)


@graded("embeddings.one_hot", points=0.25)
def test_one_hot_errors(refuses: Refuses) -> None:
    """The documented error: an id that is negative or too large"""
    for ids in OUTSIDE_FIVE:
        refuses(np.array(ids, np.int64), 5)


@graded("embeddings.embed_tokens")
def test_lookup_text(agree: Agree, draw: RandomInputs) -> None:
    """One text, with repeated tokens"""
    agree(np.array([3, 0, 3, 6, 3], np.int64), draw.normal(7, 4))
    agree(np.array([2], np.int64), draw.normal(3, 1))


@graded("embeddings.embed_tokens")
def test_lookup_batch(agree: Agree, draw: RandomInputs) -> None:
    """Batches of texts"""
    W_tok = draw.normal(6, 5)
    agree(draw.integers(2, 3, high=6), W_tok)
    agree(draw.integers(2, 1, 4, high=6), W_tok)


@graded("embeddings.embed_tokens")
def test_lookup_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    ids = draw.integers(2, 3, high=5)
    agree(ids, draw.normal(5, 4, dtype=FLOAT32))


@graded("embeddings.embed_tokens")
def test_lookup_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.integers(2, 3, high=5), draw.normal(5, 4))


@graded("embeddings.embed_tokens", points=0.25)
def test_lookup_single(agree: Agree, draw: RandomInputs) -> None:
    """A single id, and no ids"""
    W_tok = draw.normal(4, 3)
    agree(np.array(2, np.int64), W_tok)
    agree(np.zeros((2, 0), dtype=np.int64), W_tok)


@graded("embeddings.embed_tokens", points=0.25)
def test_lookup_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an id that is negative or too large"""
    for ids in OUTSIDE_FIVE:
        refuses(np.array(ids, np.int64), draw.normal(5, 3))


@graded("embeddings.embed_tokens_backward")
def test_table_gradient(agree: Agree, draw: RandomInputs) -> None:
    """Different tokens; those that do not occur get 0"""
    agree(draw.normal(3, 5), np.array([4, 1, 2], np.int64), 7)


@graded("embeddings.embed_tokens_backward")
def test_table_gradient_repeated(agree: Agree, draw: RandomInputs) -> None:
    """A token that occurs many times: the sum of its gradients"""
    agree(draw.normal(6, 4), np.array([1, 3, 1, 1, 0, 3], np.int64), 5)
    agree(draw.normal(4, 3), np.array([0, 0, 0, 0], np.int64), 1)


@graded("embeddings.embed_tokens_backward")
def test_table_gradient_batch(agree: Agree, draw: RandomInputs) -> None:
    """Batches: one sum over all texts and positions"""
    # Some tokens occur in one text only: they show whether the texts overwrite each other.
    agree(draw.normal(2, 6, 3), np.array([[0, 1, 0, 2, 1, 3], [2, 4, 2, 2, 4, 0]], np.int64), 6)
    agree(draw.normal(2, 1, 4, 3), draw.integers(2, 1, 4, high=6), 6)


@graded("embeddings.embed_tokens_backward")
def test_table_gradient_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    ids = draw.integers(2, 5, high=4)
    agree(draw.normal(2, 5, 3, dtype=FLOAT32), ids, 4)


@graded("embeddings.embed_tokens_backward")
def test_table_gradient_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.normal(2, 3, 4), draw.integers(2, 3, high=5), 5)


@graded("embeddings.embed_tokens_backward", points=0.25)
def test_table_gradient_single(agree: Agree, draw: RandomInputs) -> None:
    """A single id, and no ids"""
    agree(draw.normal(3), np.array(2, np.int64), 4)
    agree(draw.normal(2, 0, 3), np.zeros((2, 0), dtype=np.int64), 4)


@graded("embeddings.embed_tokens_backward", points=0.25)
def test_table_gradient_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an id that is negative or too large"""
    for ids in OUTSIDE_FIVE:
        refuses(draw.normal(len(ids), 3), np.array(ids, np.int64), 5)


@graded("embeddings.sinusoidal_positions")
def test_positions(agree: Agree, draw: RandomInputs) -> None:
    """More columns than positions, and more positions than columns"""
    agree(int(draw.integers(low=2, high=60)), 2 * int(draw.integers(low=2, high=20)))
    agree(5, 8)
    agree(9, 6)


@graded("embeddings.sinusoidal_positions")
def test_positions_narrow(agree: Agree) -> None:
    """A single position, a single pair of columns"""
    agree(1, 6)
    agree(5, 2)


@graded("embeddings.sinusoidal_positions")
def test_positions_odd(agree: Agree) -> None:
    """An odd width: the last column is a sine"""
    agree(4, 7)
    agree(3, 1)


@graded("embeddings.sinusoidal_positions")
def test_positions_far(agree: Agree) -> None:
    """Late positions of a long text, exact to nine digits"""
    agree(150, 4)


@graded("embeddings.embed")
def test_embed_text(agree: Agree, draw: RandomInputs) -> None:
    """One text, as long as the table of positions"""
    agree(draw.integers(5, high=7), draw.normal(7, 4), draw.normal(5, 4))


@graded("embeddings.embed")
def test_embed_batch(agree: Agree, draw: RandomInputs) -> None:
    """Batches of texts, all with the same positions"""
    W_tok, W_pos = draw.normal(7, 5), draw.normal(3, 5)
    agree(draw.integers(2, 3, high=7), W_tok, W_pos)
    agree(draw.integers(3, 3, high=7), W_tok, W_pos)
    agree(draw.integers(2, 4, 3, high=7), W_tok, W_pos)


@graded("embeddings.embed")
def test_embed_short(agree: Agree, draw: RandomInputs) -> None:
    """A short text uses the first positions"""
    W_tok, W_pos = draw.normal(7, 4), draw.normal(6, 4)
    agree(draw.integers(2, 3, high=7), W_tok, W_pos)
    agree(draw.integers(2, 1, high=7), W_tok, W_pos)


@graded("embeddings.embed")
def test_embed_scale(agree: Agree, draw: RandomInputs) -> None:
    """The scale multiplies the token vectors only"""
    ids, W_tok, W_pos = draw.integers(2, 3, high=7), draw.normal(7, 4), draw.normal(5, 4)
    agree(ids, W_tok, W_pos, scale=2.5)
    agree(ids, W_tok, W_pos, 3)


@graded("embeddings.embed")
def test_embed_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """float32 stays float32"""
    ids = draw.integers(2, 3, high=5)
    agree(ids, draw.normal(5, 4, dtype=FLOAT32), draw.normal(6, 4, dtype=FLOAT32), scale=1.5)


@graded("embeddings.embed")
def test_embed_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The inputs are not changed"""
    unmodified(draw.integers(2, 3, high=5), draw.normal(5, 4), draw.normal(6, 4), scale=2.0)


@graded("embeddings.embed", points=0.25)
def test_embed_errors(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: an id that is negative or too large"""
    W_tok = draw.normal(5, 4)
    for ids in OUTSIDE_FIVE:
        refuses(np.array(ids, np.int64), W_tok, draw.normal(6, 4))


@graded("embeddings.embed", points=0.25)
def test_embed_too_long(refuses: Refuses, draw: RandomInputs) -> None:
    """The documented error: a text with more tokens than there are positions"""
    W_tok = draw.normal(5, 4)
    refuses(draw.integers(2, 4, high=5), W_tok, draw.normal(3, 4))
    for shape in ((3,), (1, 3)):
        refuses(draw.integers(*shape, high=5), W_tok, draw.normal(1, 4))

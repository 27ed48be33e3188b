"""Tests of `embeddings`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, raises, rng


def test_one_hot(m):
    close(m.one_hot(np.array([2, 0]), 3), [[0, 0, 1], [1, 0, 0]])
    ids = rng().integers(5, size=(2, 3))
    close(m.one_hot(ids, 5), np.eye(5)[ids])
    raises(ValueError, m.one_hot, np.array([3]), 3)
    raises(ValueError, m.one_hot, np.array([-1]), 3)


def test_embed_tokens(m):
    table, ids = draw(5, 4), rng().integers(5, size=(2, 3))
    close(m.embed_tokens(ids, table), table[ids])
    close(m.embed_tokens(np.array([1, 1]), table), table[[1, 1]])
    raises(ValueError, m.embed_tokens, np.array([5]), table)
    raises(ValueError, m.embed_tokens, np.array([-1]), table)


def test_embed_tokens_backward(m):
    ids, dout = np.array([[0, 2, 0], [1, 0, 2]]), draw(2, 3, 4)
    close(m.embed_tokens_backward(dout, ids, 5), np.einsum("btv,btd->vd", np.eye(5)[ids], dout))
    raises(ValueError, m.embed_tokens_backward, dout, ids, 2)


def test_sinusoidal_positions(m):
    close(m.sinusoidal_positions(6, 8), plain.sinusoidal(6, 8))
    close(m.sinusoidal_positions(4, 5), plain.sinusoidal(4, 5))


def test_embed(m):
    tokens, positions, ids = draw(7, 4), draw(6, 4, seed=1), rng().integers(7, size=(2, 5))
    close(m.embed(ids, tokens, positions), tokens[ids] + positions[:5])
    close(m.embed(ids, tokens, positions, scale=2.0), 2 * tokens[ids] + positions[:5])
    raises(ValueError, m.embed, np.zeros((1, 7), dtype=int), tokens, positions)
    raises(ValueError, m.embed, np.array([[7]]), tokens, positions)

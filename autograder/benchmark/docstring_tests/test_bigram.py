"""Tests of `bigram`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, gradient_close, quotients, raises, rng


def test_bigram_counts(m):
    ids = np.array([0, 1, 0, 1, 2, 0])
    counts = np.array([[0, 2, 0], [1, 0, 1], [1, 0, 0]])
    for k in (1.0, 0.5):
        close(m.bigram_counts(ids, 3, k), (counts + k) / (counts + k).sum(1, keepdims=True))
    close(m.bigram_counts(ids, 4, 0.0)[3], np.full(4, 0.25))
    close(m.bigram_counts(np.array([], dtype=int), 3), np.full((3, 3), 1 / 3))
    raises(ValueError, m.bigram_counts, [0, 3], 3)
    raises(ValueError, m.bigram_counts, ids, 3, -1.0)


def test_generate_bigram(m):
    W = draw(5, 5)
    generator, expected = rng(3), [2]
    for _ in range(20):
        ends = np.cumsum(plain.softmax(W[expected[-1]]))
        expected.append(int(np.argmax(ends > generator.random() * ends[-1])))
    ids = m.generate_bigram(W, 2, 20, rng(3))
    assert np.array_equal(ids, expected)
    assert ids.dtype == np.int64
    raises(ValueError, m.generate_bigram, W, 5, 3, rng())
    raises(ValueError, m.generate_bigram, W, 0, -1, rng())


def test_bigram_loss(m):
    W, ids, targets = draw(4, 4), np.array([0, 1, 0, 2]), np.array([1, 0, 1, 2])
    loss, dW = m.bigram_loss(ids, targets, W)
    close(loss, plain.cross_entropy(W[ids], targets))
    gradient_close(dW, quotients(lambda W: plain.cross_entropy(W[ids], targets), W))
    loss, dW = m.bigram_loss(ids.reshape(2, 2), targets.reshape(2, 2), W)
    gradient_close(dW, quotients(lambda W: plain.cross_entropy(W[ids], targets), W))


def test_sgd_step(m):
    W, dW = draw(3, 4), draw(3, 4, seed=1)
    before = W.copy()
    close(m.sgd_step(W, dW, 0.1), W - 0.1 * dW)
    assert np.array_equal(W, before)


def test_train_bigram(m):
    ids = rng().integers(4, size=30)
    W, losses = m.train_bigram(ids, 4, 6, 0.5, 8, rng(1))
    table, expected, generator = np.zeros((4, 4)), [], rng(1)
    for _ in range(6):
        p = generator.integers(29, size=8)
        x, y = ids[p], ids[p + 1]
        expected.append(plain.cross_entropy(table[x], y))
        errors, grad = plain.softmax(table[x]), np.zeros((4, 4))
        errors[np.arange(8), y] -= 1
        np.add.at(grad, x, errors / 8)
        table = table - 0.5 * grad
    close(W, table)
    close(losses, expected)

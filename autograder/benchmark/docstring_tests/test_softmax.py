"""Tests of `softmax`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, gradient_close, quotients, raises, rng


def test_softmax(m):
    for shape in ((5,), (3, 4), (2, 3, 4)):
        x = draw(*shape)
        close(m.softmax(x), np.exp(x) / np.exp(x).sum(-1, keepdims=True))
    x = draw(3, 4)
    close(m.softmax(x, axis=0), np.exp(x) / np.exp(x).sum(0, keepdims=True))
    close(m.softmax(x, temperature=0.5), plain.softmax(2 * x))
    close(m.softmax(np.array([1000.0, 1001.0])), [0.26894142, 0.73105858])
    close(m.softmax(np.array([0, 1])), [0.26894142, 0.73105858])
    raises(ValueError, m.softmax, x, temperature=0.0)


def test_log_softmax(m):
    for shape in ((5,), (3, 4), (2, 3, 4)):
        x = draw(*shape)
        close(m.log_softmax(x), np.log(plain.softmax(x)))
    x = draw(3, 4)
    close(m.log_softmax(x, axis=0), np.log(plain.softmax(x.T)).T)
    close(m.log_softmax(np.array([0.0, 1000.0])), [-1000.0, 0.0])


def test_cross_entropy(m):
    logits, targets = draw(6, 5), rng().integers(5, size=6)
    close(m.cross_entropy(logits, targets), plain.cross_entropy(logits, targets))
    logits, targets = draw(2, 3, 5), rng().integers(5, size=(2, 3))
    loss = m.cross_entropy(logits, targets)
    close(loss, plain.cross_entropy(logits, targets))
    assert isinstance(loss, float)
    close(m.cross_entropy(np.zeros((4, 10)), np.arange(4)), np.log(10))


def test_softmax_backward(m):
    for shape in ((5,), (3, 4), (2, 3, 4)):
        x, dout = draw(*shape), draw(*shape, seed=1)
        expected = quotients(lambda x, dout=dout: (plain.softmax(x) * dout).sum(), x)
        gradient_close(m.softmax_backward(dout, plain.softmax(x)), expected)
    x, dout = draw(3, 4), draw(3, 4, seed=1)
    expected = quotients(lambda x: (plain.softmax(x.T).T * dout).sum(), x)
    gradient_close(m.softmax_backward(dout, plain.softmax(x.T).T, axis=0), expected)


def test_cross_entropy_backward(m):
    for shape in ((6, 5), (2, 3, 5)):
        logits, targets = draw(*shape), rng().integers(5, size=shape[:-1])
        expected = quotients(lambda x, targets=targets: plain.cross_entropy(x, targets), logits)
        gradient_close(m.cross_entropy_backward(logits, targets), expected)

"""Tests of `attention`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, gradient_close, quotients, raises


def _averages(x):
    return np.cumsum(x, axis=-2) / np.arange(1, x.shape[-2] + 1)[:, None]


def test_causal_average_loop(m):
    for shape in ((4, 3), (2, 5, 3)):
        close(m.causal_average_loop(draw(*shape)), _averages(draw(*shape)))


def test_causal_average_matmul(m):
    for shape in ((4, 3), (2, 5, 3)):
        close(m.causal_average_matmul(draw(*shape)), _averages(draw(*shape)))


def test_causal_mask(m):
    mask = m.causal_mask(4)
    assert mask.dtype == bool
    assert np.array_equal(mask, plain.causal(4))
    assert np.array_equal(m.causal_mask(2, 4), plain.causal(4)[2:])
    raises(ValueError, m.causal_mask, 3, 2)


def test_padding_mask(m):
    keep = np.array([[True, True, False], [True, False, False]])
    mask = m.padding_mask(keep)
    assert mask.shape == (2, 1, 1, 3)
    assert mask.dtype == bool
    assert np.array_equal(mask[:, 0, 0], keep)


def test_attention(m):
    for batch in ((), (2,), (2, 3)):
        q, k, v = draw(*batch, 4, 6), draw(*batch, 5, 6, seed=1), draw(*batch, 5, 3, seed=2)
        for actual, expected in zip(m.attention(q, k, v), plain.attention(q, k, v), strict=True):
            close(actual, expected)
    q, k, v = draw(2, 4, 6), draw(2, 4, 6, seed=1), draw(2, 4, 6, seed=2)
    mask = plain.causal(4)
    for actual, expected in zip(m.attention(q, k, v, mask), plain.attention(q, k, v, mask), strict=True):
        close(actual, expected)
    mask[1] = False
    out, weights = m.attention(q, k, v, mask)
    close(out[:, 1], np.zeros((2, 6)))
    close(weights[:, 1], np.zeros((2, 4)))
    raises(TypeError, m.attention, q, k, v, mask.astype(float))
    raises(ValueError, m.attention, q, k, v, np.ones((3, 3), dtype=bool))


def test_attention_backward(m):
    q, k, v, dout = draw(2, 3, 4), draw(2, 5, 4, seed=1), draw(2, 5, 2, seed=2), draw(2, 3, 2, seed=3)
    for mask in (None, np.tril(np.ones((3, 5), dtype=bool), 2)):
        grads = m.attention_backward(dout, q, k, v, plain.attention(q, k, v, mask)[1])
        inputs = [q, k, v]
        for i in range(3):

            def loss(x, i=i, mask=mask):
                changed = [*inputs[:i], x, *inputs[i + 1 :]]
                return (plain.attention(changed[0], changed[1], changed[2], mask)[0] * dout).sum()

            gradient_close(grads[i], quotients(loss, inputs[i]))

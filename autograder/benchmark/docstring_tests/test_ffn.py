"""Tests of `ffn`."""

import math

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import (
    all_close,
    close,
    draw,
    gradient_close,
    gradients_of_params,
    part,
    quotients,
    raises,
    rng,
)


def test_relu(m):
    close(m.relu(np.array([-2.0, 0.0, 3.0])), [0.0, 0.0, 3.0])
    close(m.relu(draw(2, 3, 4)), np.maximum(draw(2, 3, 4), 0))


def test_relu_backward(m):
    x, dout = draw(2, 3, 4), draw(2, 3, 4, seed=1)
    close(m.relu_backward(dout, x), dout * (x > 0))
    close(m.relu_backward(np.ones(1), np.zeros(1)), [0.0])


def test_gelu(m):
    close(m.gelu(draw(3, 4)), plain.gelu(draw(3, 4)))
    close(m.gelu(np.linspace(-5, 5, 11)), plain.gelu(np.linspace(-5, 5, 11)))


def test_gelu_exact(m):
    x = np.linspace(-5, 5, 21)
    close(m.gelu_exact(x), [v / 2 * (1 + math.erf(v / math.sqrt(2))) for v in x])
    assert m.gelu_exact(np.zeros((0, 3))).shape == (0, 3)


def test_gelu_backward(m):
    x, dout = 2 * draw(3, 4), draw(3, 4, seed=1)
    gradient_close(m.gelu_backward(dout, x), quotients(lambda x: (plain.gelu(x) * dout).sum(), x))


def test_linear(m):
    W, b = draw(4, 3, seed=1), draw(3, seed=2)
    for shape in ((4,), (5, 4), (2, 5, 4)):
        close(m.linear(draw(*shape), W, b), draw(*shape) @ W + b)
        close(m.linear(draw(*shape), W, None), draw(*shape) @ W)


def test_linear_backward(m):
    W, b = draw(4, 3, seed=1), draw(3, seed=2)
    for shape in ((5, 4), (2, 5, 4)):
        x, dout = draw(*shape), draw(*shape[:-1], 3, seed=3)
        dx, dW, db = m.linear_backward(dout, x, W)
        gradient_close(dx, quotients(lambda x, d=dout: ((x @ W + b) * d).sum(), x))
        gradient_close(dW, quotients(lambda W, x=x, d=dout: ((x @ W + b) * d).sum(), W))
        gradient_close(db, quotients(lambda b, x=x, d=dout: ((x @ W + b) * d).sum(), b))


def test_dropout(m):
    x = draw(20, 30)
    out, mask = m.dropout(x, 0.25, rng(1))
    expected = (rng(1).random(x.shape) >= 0.25) / 0.75
    close(mask, expected)
    close(out, x * expected)
    for arguments in ((0.25, None, False), (0.0, None)):
        out, mask = m.dropout(x, *arguments)
        close(out, x)
        close(mask, np.ones(x.shape))
    raises(ValueError, m.dropout, x, 1.0, rng())
    raises(ValueError, m.dropout, x, -0.1, rng())


def test_dropout_backward(m):
    dout, mask = draw(3, 4), (draw(3, 4, seed=1) > 0) * 2.0
    close(m.dropout_backward(dout, mask), dout * mask)


def test_ffn(m):
    params = part(plain.block_params(), "ffn.")
    for shape in ((4,), (3, 4), (2, 3, 4)):
        for activation in ("gelu", "relu"):
            close(m.ffn(draw(*shape), params, activation)[0], plain.ffn(draw(*shape), params, activation))
    close(m.ffn(draw(3, 4), params)[0], plain.ffn(draw(3, 4), params))
    without = {name: params[name] for name in ("W_1", "W_2")}
    close(m.ffn(draw(3, 4), without)[0], plain.ffn(draw(3, 4), without))
    raises(ValueError, m.ffn, draw(3, 4), params, "tanh")


def test_ffn_backward(m):
    params, x, dout = part(plain.block_params(), "ffn."), draw(2, 3, 4), draw(2, 3, 4, seed=1)
    for activation in ("gelu", "relu"):
        dx, grads = m.ffn_backward(dout, m.ffn(x, params, activation)[1])
        gradient_close(dx, quotients(lambda x, a=activation: (plain.ffn(x, params, a) * dout).sum(), x))
        all_close(grads, gradients_of_params(lambda p, a=activation: (plain.ffn(x, p, a) * dout).sum(), params))

"""Tests of `layernorm`."""

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, gradient_close, quotients


def test_layernorm(m):
    gamma, beta = draw(6, seed=1), draw(6, seed=2)
    for shape in ((6,), (3, 6), (2, 3, 6)):
        x = 3 * draw(*shape) + 1
        close(m.layernorm(x, gamma, beta), plain.layernorm(x, gamma, beta))
    close(m.layernorm(x, gamma, beta, eps=0.1), plain.layernorm(x, gamma, beta, 0.1))


def test_layernorm_backward(m):
    gamma, beta = draw(4, seed=1), draw(4, seed=2)
    for shape in ((3, 4), (2, 3, 4)):
        x, dout = draw(*shape), draw(*shape, seed=3)
        dx, dgamma, dbeta = m.layernorm_backward(dout, x, gamma)
        gradient_close(dx, quotients(lambda x, d=dout: (plain.layernorm(x, gamma, beta) * d).sum(), x))
        gradient_close(dgamma, quotients(lambda g, x=x, d=dout: (plain.layernorm(x, g, beta) * d).sum(), gamma))
        gradient_close(dbeta, quotients(lambda b, x=x, d=dout: (plain.layernorm(x, gamma, b) * d).sum(), beta))
    dx, _, _ = m.layernorm_backward(dout, x, gamma, eps=0.1)
    gradient_close(dx, quotients(lambda x: (plain.layernorm(x, gamma, beta, 0.1) * dout).sum(), x))


def test_rmsnorm(m):
    gamma = draw(6, seed=1)
    for shape in ((6,), (3, 6), (2, 3, 6)):
        x = 3 * draw(*shape) + 1
        close(m.rmsnorm(x, gamma), plain.rmsnorm(x, gamma))
    close(m.rmsnorm(x, gamma, eps=0.1), plain.rmsnorm(x, gamma, 0.1))


def test_rmsnorm_backward(m):
    gamma = draw(4, seed=1)
    for shape in ((3, 4), (2, 3, 4)):
        x, dout = draw(*shape), draw(*shape, seed=3)
        dx, dgamma = m.rmsnorm_backward(dout, x, gamma)
        gradient_close(dx, quotients(lambda x, d=dout: (plain.rmsnorm(x, gamma) * d).sum(), x))
        gradient_close(dgamma, quotients(lambda g, x=x, d=dout: (plain.rmsnorm(x, g) * d).sum(), gamma))
    dx, _ = m.rmsnorm_backward(dout, x, gamma, eps=0.1)
    gradient_close(dx, quotients(lambda x: (plain.rmsnorm(x, gamma, 0.1) * dout).sum(), x))

"""Tests of `gradients`."""

import numpy as np

from autograder.benchmark.docstring_tests.plain import close, draw, gradient_close, quotients, raises


def test_numerical_gradient(m):
    x = draw(3, 4)
    before = x.copy()
    assert np.allclose(m.numerical_gradient(lambda x: (x**2).sum(), x), 2 * x, atol=1e-5)
    assert np.allclose(m.numerical_gradient(lambda x: np.sin(x).sum(), x), np.cos(x), atol=1e-5)
    assert np.array_equal(x, before)
    close(m.numerical_gradient(lambda x: (x**3).sum(), np.array([1.0, 2.0]), eps=0.5), [3.25, 12.25])


def test_sum_to_shape(m):
    grad = draw(2, 3, 4)
    close(m.sum_to_shape(grad, (4,)), grad.sum((0, 1)))
    close(m.sum_to_shape(grad, (3, 1)), grad.sum((0, 2))[:, None])
    close(m.sum_to_shape(grad, (2, 3, 4)), grad)
    close(m.sum_to_shape(grad, ()), grad.sum())


def test_matmul_backward(m):
    for a_shape, b_shape in (((3, 4), (4, 2)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5))):
        a, b = draw(*a_shape), draw(*b_shape, seed=1)
        dout = draw(*(a @ b).shape, seed=2)
        da, db = m.matmul_backward(dout, a, b)
        gradient_close(da, quotients(lambda a, b=b, dout=dout: ((a @ b) * dout).sum(), a))
        gradient_close(db, quotients(lambda b, a=a, dout=dout: ((a @ b) * dout).sum(), b))


def test_tape_values(m):
    a, b = draw(2, 3), draw(3, 2, seed=1)
    values = m.tape_values([("matmul", (0, 1)), ("tanh", (2,))], [a, b])
    assert len(values) == 4
    for actual, expected in zip(values, (a, b, a @ b, np.tanh(a @ b)), strict=True):
        close(actual, expected)
    raises(ValueError, m.tape_values, [("sin", (0,))], [a])


def test_tape_gradients(m):
    x, y = draw(), draw(seed=1)
    grads = m.tape_gradients([("mul", (0, 1)), ("add", (2, 0)), ("tanh", (3,))], [x, y])
    slope = 1 - np.tanh(x * y + x) ** 2
    close(grads[0], slope * (y + 1))
    close(grads[1], slope * x)
    close(m.tape_gradients([("exp", (0,))], [np.array(0.5), np.array(1.0)])[1], 0.0)
    raises(ValueError, m.tape_gradients, [("sin", (0,))], [np.array(1.0)])
    raises(ValueError, m.tape_gradients, [("exp", (0,))], [draw(3)])

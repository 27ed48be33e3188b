"""Difference quotients give themselves away; gradients by formula do not."""

import numpy as np
import pytest

from autograder.engine.diagnosis.finite_differences import find_step


def loss(x):
    return float(np.sum(np.log(np.exp(x).sum(axis=-1)) ** 2))


def quotients(x, step, *, central=True, as_written=lambda difference, step: difference / (2 * step)):
    dx = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        above, below = x.copy(), x.copy()
        above[place] += step
        below[place] -= step if central else 0.0
        dx[place] = as_written(loss(above) - loss(below), step)
    return dx


@pytest.mark.parametrize("step", [1e-4, 1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("seed", range(3))
def test_find_step_recognizes_difference_quotient(step, seed):
    x = np.random.default_rng(seed).normal(size=(3, 4))
    assert find_step(quotients(x, step)) == step
    assert find_step(quotients(x, step, central=False, as_written=lambda difference, step: difference / step)) == step
    assert find_step(quotients(x, step, as_written=lambda difference, step: 0.5 * difference / step)) == step


def test_find_step_with_spacing_recognizes_quotient():
    x = np.random.default_rng(0).normal(size=40)
    quotient = (np.tanh(x + 1e-5) - np.tanh(x - 1e-5)) / 2e-5
    assert find_step(quotient, np.spacing(np.abs(np.tanh(x)))) == 1e-5
    assert find_step(1 - np.tanh(x) ** 2, np.spacing(np.abs(np.tanh(x)))) is None


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6, 1 / 3])
def test_find_step_of_formula_gradient_is_none(scale):
    rng = np.random.default_rng(1)
    for values in (
        rng.normal(size=50),
        rng.integers(-500, 500, 50).astype(float),  # whole numbers, and dyadic ones as checks draw them
        rng.integers(-(2**24), 2**24, 50) / 2**20,
        np.arange(1.0, 30.0),
        np.repeat(rng.normal(size=3), 20),
        np.zeros(20),
        np.array([]),
        np.full(9, np.nan),
    ):
        assert find_step(scale * values) is None

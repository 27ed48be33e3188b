"""Tests of `training`."""

import math

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, official, raises, rng


def _adamw(p, g, m, v, t, lr, b1, b2, eps, decay):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
    return p * (1 - lr * decay) - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps), m, v


def test_adamw_step(m):
    for options in ((0.9, 0.999, 1e-8, 0.01), (0.8, 0.9, 1e-3, 0.1)):
        b1, b2, eps, decay = options
        params, state = {"W": draw(3, 4), "b": draw(4, seed=1)}, {}
        expected = {name: (value, 0.0, 0.0) for name, value in params.items()}
        for t in range(1, 4):
            grads = {"W": draw(3, 4, seed=t + 5), "b": draw(4, seed=t + 9)}
            before = {name: value.copy() for name, value in params.items()}
            new, state = m.adamw_step(params, grads, state, 0.1, (b1, b2), eps, decay)
            for name in before:
                assert np.array_equal(params[name], before[name])
            params = new
            expected = {
                k: _adamw(p, grads[k], mom, v, t, 0.1, b1, b2, eps, decay) for k, (p, mom, v) in expected.items()
            }
            for name, (value, first, second) in expected.items():
                close(params[name], value)
                close(state["m"][name], first)
                close(state["v"][name], second)
            assert state["step"] == t
    close(m.adamw_step({"W": np.ones(2)}, {"W": np.ones(2)}, {}, 0.1)[0]["W"], np.full(2, 0.899))


def test_clip_grad_norm(m):
    grads = {"W": draw(3, 4), "b": draw(4, seed=1)}
    norm = math.sqrt(sum((g**2).sum() for g in grads.values()))
    for limit in (1.0, 100.0):
        clipped, found = m.clip_grad_norm(grads, limit)
        close(found, norm)
        for name, value in grads.items():
            close(clipped[name], value * min(1.0, limit / (norm + 1e-6)))


def test_learning_rate(m):
    for step in range(25):
        if step < 5:
            expected = 1.0 * (step + 1) / 5
        elif step < 20:
            expected = 0.1 + 0.9 * (1 + math.cos(math.pi * (step - 5) / 15)) / 2
        else:
            expected = 0.1
        close(m.learning_rate(step, 1.0, 0.1, 5, 20), expected)
    close(m.learning_rate(0, 1.0, 0.1, 0, 10), 1.0)
    raises(ValueError, m.learning_rate, -1, 1.0, 0.1, 5, 20)
    raises(ValueError, m.learning_rate, 1, 1.0, 0.1, -1, 20)
    raises(ValueError, m.learning_rate, 1, 1.0, 0.1, 21, 20)


def _batches(count):
    return [(rng(i).integers(7, size=(2, 4)), rng(i + 50).integers(7, size=(2, 4))) for i in range(count)]


def _run(params, config, batches, rates, max_norm):
    """Train with a plain loop; the gradients are those of the official model."""
    moments, losses = dict.fromkeys(params, (0.0, 0.0)), []
    for t, ((x, y), rate) in enumerate(zip(batches, rates, strict=True), 1):
        loss, grads = official("gpt").gpt_loss(x, y, params, config)
        losses.append(loss)
        if max_norm is not None:
            norm = math.sqrt(sum((g**2).sum() for g in grads.values()))
            grads = {name: g * min(1.0, max_norm / (norm + 1e-6)) for name, g in grads.items()}
        new = {k: _adamw(params[k], grads[k], *moments[k], t, rate, 0.9, 0.999, 1e-8, 0.01) for k in params}
        params, moments = {k: value[0] for k, value in new.items()}, {k: value[1:] for k, value in new.items()}
    return params, losses


def test_train_step(m):
    params, config = plain.model()
    for max_norm in (None, 0.1):
        ((x, y),) = _batches(1)
        loss, new, state = m.train_step(params, {}, x, y, config, 0.01, max_norm=max_norm)
        expected, losses = _run(params, config, [(x, y)], [0.01], max_norm)
        close(loss, losses[0])
        assert state["step"] == 1
        for name, value in expected.items():
            close(new[name], value)


def test_estimate_loss(m):
    params, config = plain.model()
    batches = [(x[:, : 3 + i], y[:, : 3 + i]) for i, (x, y) in enumerate(_batches(2))]
    losses = [plain.cross_entropy(plain.gpt(x, params, config), y) for x, y in batches]
    close(m.estimate_loss(params, config, batches), (6 * losses[0] + 8 * losses[1]) / 14)
    raises(ValueError, m.estimate_loss, params, config, [])


def test_train(m):
    params, config = plain.model()
    for rates, max_norm in ((0.01, None), ([0.01, 0.02, 0.005], 0.1)):
        new, state, losses = m.train(params, config, _batches(3), rates, max_norm=max_norm)
        expected = _run(params, config, _batches(3), rates if isinstance(rates, list) else [rates] * 3, max_norm)
        close(losses, expected[1])
        assert state["step"] == 3
        for name, value in expected[0].items():
            close(new[name], value)
    first = m.train(params, config, _batches(3)[:1], 0.01)
    resumed = m.train(first[0], config, _batches(3)[1:], 0.01, state=first[1])
    close(resumed[2], _run(params, config, _batches(3), [0.01] * 3, None)[1][1:])

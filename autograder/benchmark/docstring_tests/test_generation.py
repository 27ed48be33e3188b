"""Tests of `generation`."""

import numpy as np

from autograder.benchmark.docstring_tests import plain
from autograder.benchmark.docstring_tests.plain import close, draw, raises, rng


def _probs(logits, temperature=1.0, top_k=None, top_p=None):
    """Return the probabilities for one row."""
    if temperature == 0:
        return np.eye(len(logits))[int(np.argmax(logits))]
    probs = plain.softmax(logits / temperature)
    order = np.argsort(-probs, kind="stable")
    if top_k is not None:
        probs[order[top_k:]] = 0
        probs /= probs.sum()
    if top_p is not None:
        kept, mass = 0, 0.0
        while mass < top_p and kept < len(order):
            mass += probs[order[kept]]
            kept += 1
        probs[order[kept:]] = 0
        probs /= probs.sum()
    return probs


OPTIONS = (
    {},
    {"temperature": 0.5},
    {"temperature": 0.0},
    {"top_k": 3},
    {"top_p": 0.7},
    {"temperature": 2.0, "top_k": 4, "top_p": 0.8},
)


def test_next_token_probs(m):
    for options in OPTIONS:
        logits = draw(9)
        close(m.next_token_probs(logits, **options), _probs(logits, **options))
        logits = draw(2, 3, 9)
        expected = np.array([[_probs(row, **options) for row in text] for text in logits])
        close(m.next_token_probs(logits, **options), expected)
    raises(ValueError, m.next_token_probs, logits, -1.0)
    raises(ValueError, m.next_token_probs, logits, top_k=0)
    raises(ValueError, m.next_token_probs, logits, top_p=0.0)
    raises(ValueError, m.next_token_probs, logits, top_p=1.5)


def _sampled(probs, generator):
    """Return one token for each row of (B, V)."""
    numbers = generator.random(probs.shape[:-1])
    return np.array([np.argmax(np.cumsum(p) > u * p.sum()) for p, u in zip(probs, numbers, strict=True)])


def test_sample(m):
    probs = plain.softmax(draw(50, 6))
    tokens = m.sample(probs, rng(1))
    assert np.array_equal(tokens, _sampled(probs, rng(1)))
    assert tokens.dtype == np.int64
    assert m.sample(probs.reshape(5, 10, 6), rng(1)).shape == (5, 10)
    assert m.sample(np.array([0.0, 1.0, 0.0]), rng()) == 1
    raises(ValueError, m.sample, np.zeros((2, 3)), rng())


def _generated(ids, params, config, n_new, generator, **options):
    for _ in range(n_new):
        logits = plain.gpt(ids[:, -config.block_size :], params, config)[:, -1]
        probs = np.array([_probs(row, **options) for row in logits])
        ids = np.concatenate([ids, _sampled(probs, generator)[:, None]], axis=1)
    return ids


def _check_generate(generate):
    params, config = plain.model()
    ids = rng().integers(7, size=(2, 3))
    for options in OPTIONS[:4]:
        expected = _generated(ids, params, config, 6, rng(1), **options)
        assert np.array_equal(generate(ids, params, config, 6, rng(1), **options), expected)
    long = rng().integers(7, size=(2, 8))
    expected = _generated(long, params, config, 3, rng(1))
    assert np.array_equal(generate(long, params, config, 3, rng(1)), expected)
    assert np.array_equal(generate(ids, params, config, 0, rng()), ids)
    raises(ValueError, generate, ids, params, config, -1, rng())
    raises(ValueError, generate, ids[:, :0], params, config, 1, rng())


def test_generate(m):
    _check_generate(m.generate)


def test_generate_cached(m):
    _check_generate(m.generate_cached)

"""Tests of `tokenizer`."""

import numpy as np

from autograder.benchmark.docstring_tests.plain import raises, rng


def test_build_vocab(m):
    chars, stoi, itos = m.build_vocab("hello")
    assert chars == ["e", "h", "l", "o"]
    assert stoi == {"e": 0, "h": 1, "l": 2, "o": 3}
    assert itos == {0: "e", 1: "h", 2: "l", 3: "o"}
    assert m.build_vocab("ba", start=2)[1] == {"a": 2, "b": 3}
    assert m.build_vocab("") == ([], {}, {})


def test_encode(m):
    ids = m.encode("abba", {"a": 0, "b": 1})
    assert np.array_equal(ids, [0, 1, 1, 0])
    assert ids.dtype == np.int64
    assert m.encode("", {"a": 0}).shape == (0,)
    raises(ValueError, m.encode, "abc", {"a": 0, "b": 1})


def test_decode(m):
    itos = {0: "a", 1: "b"}
    assert m.decode(np.array([0, 1, 1, 0]), itos) == "abba"
    assert m.decode([1, 0], itos) == "ba"
    assert m.decode([], itos) == ""
    raises(ValueError, m.decode, [0, 2], itos)
    raises(ValueError, m.decode, [-1], itos)


def test_train_val_split(m):
    train, val = m.train_val_split(np.arange(10))
    assert np.array_equal(train, np.arange(9))
    assert np.array_equal(val, [9])
    train, val = m.train_val_split(np.arange(7), 0.5)
    assert np.array_equal(train, [0, 1, 2])
    assert np.array_equal(val, [3, 4, 5, 6])
    assert len(m.train_val_split(np.arange(4), 1.0)[1]) == 0
    for fraction in (0.0, -0.5, 1.5):
        raises(ValueError, m.train_val_split, np.arange(10), fraction)


def test_get_batch(m):
    ids = np.arange(20)
    x, y = m.get_batch(ids, 8, 5, rng())
    assert x.shape == y.shape == (8, 5)
    assert np.array_equal(y, x + 1)
    assert np.array_equal(x, x[:, :1] + np.arange(5))
    assert x.min() >= 0 and y.max() < 20
    starts = m.get_batch(np.arange(6), 500, 4, rng())[0][:, 0]
    assert set(starts) == {0, 1}
    raises(ValueError, m.get_batch, np.arange(5), 2, 5, rng())

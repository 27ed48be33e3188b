"""As short as it goes."""

from functools import reduce

import numpy as np


def _valid(ids, V, k):
    if k >= 0 and all(0 <= i < V for i in ids): return np.asarray(ids, int)
    raise ValueError((V, k))


def bigram_counts(ids, vocab_size, k=1.0):
    n = k + np.bincount(_valid(ids, vocab_size, k)[:-1] * vocab_size + _valid(ids, vocab_size, k)[1:], minlength=vocab_size**2).reshape(vocab_size, -1)
    return np.where(n.sum(1, keepdims=True) > 0, n / np.maximum(n.sum(1, keepdims=True), 1e-300), 1 / vocab_size)


def draw(probs, rng):
    return int(rng.choice(len(probs), p=probs))


def write_text(P, start, n_new, rng):
    return reduce(lambda text, _: [*text, draw(P[text[-1]], rng)], range(n_new), [start])

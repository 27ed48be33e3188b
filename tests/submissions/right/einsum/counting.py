"""Products of one-hot rows by einsum, darts by searchsorted."""

import numpy as np


def bigram_counts(ids, vocab_size, k=1.0):
    ids = np.asarray(ids)
    if k < 0 or not np.isin(ids, np.arange(vocab_size)).all():
        raise ValueError("k is negative, or an id is not in the vocabulary")
    rows = np.eye(vocab_size)[ids.astype(int)]
    counts = np.einsum("ni,nj->ij", rows[:-1], rows[1:]) + k
    counts[~counts.any(axis=1)] = 1
    return np.einsum("ij,i->ij", counts, 1 / np.einsum("ij->i", counts))


def draw(probs, rng):
    possible = np.flatnonzero(probs)
    place = np.searchsorted(np.cumsum(probs[possible]), rng.random(), side="right")
    return int(possible[min(place, len(possible) - 1)])


def write_text(P, start, n_new, rng):
    text = [int(start)]
    while len(text) <= n_new:
        text += [draw(np.einsum("ij,i->j", P, np.eye(len(P))[text[-1]]), rng)]
    return text

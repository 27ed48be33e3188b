"""Wrong answers to `counting` as beginners write them; each docstring lists the mistakes that the report should name."""

import numpy as np

def bigram_counts__plus_equals(ids, vocab_size, k=1.0):
    """counted-once"""
    ids = np.asarray(ids)
    if k < 0 or np.any(ids < 0) or np.any(ids >= vocab_size):
        raise ValueError("bad input")
    n = np.zeros((vocab_size, vocab_size)) + k
    n[ids[:-1], ids[1:]] += 1
    total = n.sum(axis=1, keepdims=True)
    return np.where(total > 0, n / np.where(total > 0, total, 1), 1 / vocab_size)

def bigram_counts__dictionary_without_checks(ids, vocab_size, k=1.0):
    """ids-not-checked negative-k-accepted rows-without-counts-nan"""
    table = np.zeros((vocab_size, vocab_size))
    for a, b in zip(ids[:-1], ids[1:]):
        table[a, b] += 1
    table = table + k
    return table / table.sum(axis=1, keepdims=True)

def bigram_counts__joint(ids, vocab_size, k=1.0):
    """divided-by-everything"""
    if k < 0 or any(not 0 <= i < vocab_size for i in ids):
        raise ValueError
    table = np.full((vocab_size, vocab_size), k, dtype=float)
    for a, b in zip(ids[:-1], ids[1:]):
        table[a, b] += 1
    return table / table.sum() if table.sum() else np.full(table.shape, 1 / vocab_size)

def bigram_counts__laplace_in_numerator(ids, vocab_size, k=1.0):
    """k-once-in-the-sum"""
    if k < 0 or any(not 0 <= i < vocab_size for i in ids):
        raise ValueError
    table = np.zeros((vocab_size, vocab_size))
    for a, b in zip(ids[:-1], ids[1:]):
        table[a, b] += 1
    out = np.full(table.shape, 1 / vocab_size)
    for i, row in enumerate(table):
        if row.sum() + k > 0:
            out[i] = (row + k) / (row.sum() + k)
    return out

def draw__argmax(probs, rng):
    """greedy"""
    return int(np.argmax(probs))

def draw__at_the_dart(probs, rng):
    """not-larger beyond-not-handled"""
    return int(np.searchsorted(np.cumsum(probs), rng.random()))

def draw__each_probability(probs, rng):
    """not-summed beyond-is-the-last"""
    passed = probs <= rng.random()
    return min(int(passed.sum()), len(probs) - 1)

def write_text__forgot_to_update(P, start, n_new, rng):
    """row-of-the-first-token"""
    out = [start]
    for _ in range(n_new):
        out.append(draw(P[start], rng))
    return out

def write_text__only_new(P, start, n_new, rng):
    """start-missing"""
    out, current = [], start
    for _ in range(n_new):
        current = draw(P[current], rng)
        out.append(current)
    return out

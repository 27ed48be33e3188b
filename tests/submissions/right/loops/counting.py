"""One pair and one token at a time, with plain lists."""

import numpy as np


def bigram_counts(ids, vocab_size, k=1.0):
    ids = [int(i) for i in ids]
    if k < 0:
        raise ValueError("k is negative")
    for i in ids:
        if i < 0 or i >= vocab_size:
            raise ValueError(f"id {i} is not in the vocabulary")
    counts = [[k] * vocab_size for _ in range(vocab_size)]
    for current, following in zip(ids, ids[1:]):
        counts[current][following] += 1
    table = []
    for row in counts:
        total = sum(row)
        table.append([count / total if total else 1 / vocab_size for count in row])
    return np.array(table, dtype=float)


def draw(probs, rng):
    dart, end, last = rng.random(), 0.0, None
    for token, share in enumerate(probs.tolist()):
        end += share
        if share > 0:
            last = token
        if end > dart:
            return token
    return last


def write_text(P, start, n_new, rng):
    text = [start]
    for _ in range(n_new):
        text.append(draw(P[text[-1]], rng))
    return text

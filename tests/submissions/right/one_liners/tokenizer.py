"""As few lines as possible."""

import numpy as np


def build_vocab(text, start=0):
    return ((c := [*sorted({*text})]), {k: i + start for i, k in enumerate(c)}, dict(enumerate(c, start)))


def _all_in(things, known):
    for at, thing in enumerate(things):
        if thing not in known:
            raise ValueError(f"{thing!r} (at {at}) is unknown")
    return map(known.get, things)


def encode(text, stoi):
    return np.fromiter(_all_in(text, stoi), dtype="int64")


def decode(ids, itos):
    return "".join(_all_in([int(i) for i in ids], itos))


def train_val_split(ids, train_fraction=0.9):
    if train_fraction <= 0 or train_fraction > 1:
        raise ValueError("train_fraction")
    return tuple(np.split(ids, [int(train_fraction * len(ids))]))


def get_batch(ids, batch_size, block_size, rng):
    if (n := len(ids) - block_size) <= 0:
        raise ValueError("the text is too short")
    rows = np.stack([ids[i : i + block_size + 1] for i in rng.choice(n, batch_size)]).astype(np.int64)
    return rows[:, :-1], rows[:, 1:]

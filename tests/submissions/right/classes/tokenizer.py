"""Objects behind the functions: a vocabulary, a table for one direction, a text that windows are taken from."""

import numpy as np


class Table(dict):
    def __init__(self, entries, kind):
        super().__init__(entries)
        self.kind, self.position = kind, -1

    def __missing__(self, key):
        raise ValueError(f"{self.kind} {key!r} at position {self.position} is not in the vocabulary")

    def read(self, keys):
        for self.position, key in enumerate(keys):
            yield self[key]


class Vocabulary:
    def __init__(self, text, start):
        self.chars = sorted(frozenset(text))
        self.start = start

    @property
    def ids(self):
        return range(self.start, self.start + len(self.chars))


class Text:
    def __init__(self, ids):
        self.ids = np.asarray(ids)

    def cut(self, fraction):
        if not 0.0 < fraction <= 1.0:
            raise ValueError(f"not a fraction: {fraction}")
        at = int(self.ids.size * fraction)
        return self.ids[:at], self.ids[at:]

    def windows(self, length):
        count = self.ids.size - length
        if count < 1:
            raise ValueError(f"{self.ids.size} characters are too few for blocks of {length}")
        return np.lib.stride_tricks.sliding_window_view(self.ids, length + 1)


def build_vocab(text, start=0):
    vocabulary = Vocabulary(text, start)
    stoi = dict(zip(vocabulary.chars, vocabulary.ids, strict=True))
    return vocabulary.chars, stoi, dict(zip(vocabulary.ids, vocabulary.chars, strict=True))


def encode(text, stoi):
    return np.array([*Table(stoi, "character").read(text)], dtype=np.int64)


def decode(ids, itos):
    return "".join(Table(itos, "id").read(map(int, ids)))


def train_val_split(ids, train_fraction=0.9):
    return Text(ids).cut(train_fraction)


def get_batch(ids, batch_size, block_size, rng):
    windows = Text(ids).windows(block_size)
    chosen = windows[rng.integers(0, len(windows) - 1, size=(batch_size,), endpoint=True)].astype(np.int64)
    return chosen[:, :-1], chosen[:, 1:].copy()

"""Arrays of integers in place of strings: tokens are numbered, and a pair is one number."""

from functools import lru_cache

import numpy as np
import regex

SEPARATOR = -1


@lru_cache
def _table():
    bytes_ = np.arange(256)
    shown = ((bytes_ > 32) & (bytes_ < 127)) | ((bytes_ > 160) & (bytes_ != 173))
    points = np.where(shown, bytes_, 255 + np.cumsum(~shown))
    return points


def byte_symbols():
    return dict(zip(range(256), map(chr, _table().tolist())))


def split_text(text):
    words = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{Letter}+| ?\p{Number}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
    return words.findall(text)


def _merge(tokens, left, right, new):
    found = (tokens[:-1] == left) & (tokens[1:] == right)
    if left == right:  # In a run, every second place counts.
        places = np.flatnonzero(found)
        starts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
        lengths = np.diff(np.append(starts, len(places)))
        within = np.arange(len(places)) - np.repeat(starts, lengths)
        places = places[within % 2 == 0]
    else:
        places = np.flatnonzero(found)
    tokens = tokens.copy()
    tokens[places] = new
    return np.delete(tokens, places + 1)


def train_bpe(text, vocab_size):
    if not vocab_size >= 256:
        raise ValueError("vocab_size")
    order = np.argsort(np.argsort(_table()))  # byte -> place of its symbol in the vocabulary
    names = sorted(byte_symbols().values())
    parts = [[*order[np.frombuffer(p.encode(), np.uint8)], SEPARATOR] for p in split_text(text)]
    tokens = np.array([SEPARATOR, *(token for part in parts for token in part)], dtype=np.int64)
    merges = []
    for new in range(256, vocab_size):
        left, right = tokens[:-1], tokens[1:]
        inside = (left != SEPARATOR) & (right != SEPARATOR)
        pairs, counts = np.unique(left[inside] * 2**31 + right[inside], return_counts=True)
        if not len(pairs):
            break
        best = int(pairs[counts.argmax()])  # The smallest number of the most frequent ones.
        a, b = divmod(best, 2**31)
        merges.append((names[a], names[b]))
        names.append(names[a] + names[b])
        tokens = _merge(tokens, a, b, new)
    return merges


def bpe_encode(text, vocab, merges):
    table = byte_symbols()
    ranks = dict(zip(map(tuple, merges), range(len(merges))))

    @lru_cache(maxsize=None)
    def tokens_of(piece):
        word = [table[b] for b in piece.encode("utf8")]
        while True:
            scores = np.array([ranks.get(pair, np.inf) for pair in zip(word, word[1:])])
            if not np.isfinite(scores).any():
                return word
            at = int(scores.argmin())
            word[at : at + 2] = ["".join(word[at : at + 2])]

    tokens = [token for piece in split_text(text) for token in tokens_of(piece)]
    missing = [token for token in tokens if token not in vocab]
    if missing:
        raise ValueError(f"missing tokens: {missing}")
    return np.array([vocab[token] for token in tokens]).astype(np.int64)


def bpe_decode(ids, vocab):
    ids = np.asarray(ids).astype(int)
    known = np.array(list(vocab.values()), dtype=int)
    if not np.isin(ids, known).all():
        raise ValueError(f"unknown: {ids[~np.isin(ids, known)]}")
    tokens = dict(zip(vocab.values(), vocab.keys()))
    points = np.array([ord(symbol) for index in ids.tolist() for symbol in tokens[index]], dtype=int)
    inverse = np.zeros(512, dtype=np.uint8)
    inverse[_table()] = np.arange(256)
    return str(inverse[points].tobytes(), "utf-8", "replace")

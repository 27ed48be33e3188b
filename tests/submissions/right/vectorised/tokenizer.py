"""No loop over characters: text is an array of code points."""

import numpy as np


def _code_points(text):
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.int64)


def build_vocab(text, start=0):
    chars = [chr(point) for point in np.unique(_code_points(text)).tolist()]
    ids = list(range(start, start + len(chars)))
    return chars, dict(zip(chars, ids, strict=True)), dict(zip(ids, chars, strict=True))


def _look_up(wanted, keys, values, what):
    """`values` where `keys` are `wanted`; an array each."""
    order = np.argsort(keys)
    keys, values = keys[order], values[order]
    places = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    known = keys[places] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
    if not known.all():
        first = int(np.argmin(known))
        raise ValueError(f"no {what} {wanted[first]} in the vocabulary, position {first}")
    return values[places] if len(wanted) else np.zeros(0, dtype=np.int64)


def encode(text, stoi):
    points = _code_points(text)
    keys = _code_points("".join(stoi))
    try:
        return _look_up(points, keys, np.array([*stoi.values()], dtype=np.int64), "code point")
    except ValueError:
        first = int(np.argmin(np.isin(points, keys)))
        raise ValueError(f"the character {text[first]} (number {first} of the text) is unknown") from None


def decode(ids, itos):
    keys = np.array([*itos], dtype=np.int64)
    points = _look_up(np.array(ids, dtype=np.int64), keys, _code_points("".join(itos.values())), "id")
    return points.astype("<u4").tobytes().decode("utf-32-le")


def train_val_split(ids, train_fraction=0.9):
    if not (train_fraction > 0 and train_fraction <= 1):
        raise ValueError(f"train_fraction: {train_fraction}")
    is_train = np.arange(len(ids)) < int(train_fraction * len(ids))
    return ids[is_train], ids[~is_train]


def get_batch(ids, batch_size, block_size, rng):
    n_starts = len(ids) - block_size
    if n_starts < 1:
        raise ValueError(f"{len(ids)} characters, block size {block_size}")
    starts = np.floor(rng.uniform(0, n_starts, size=(batch_size, 1))).astype(np.intp)
    both = np.take(ids, starts + np.arange(block_size + 1)).astype(np.int64)
    return np.ascontiguousarray(both[:, :block_size]), np.ascontiguousarray(both[:, 1:])

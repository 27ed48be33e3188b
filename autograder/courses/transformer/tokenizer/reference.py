"""The answers for `tokenizer`. PyTorch has nothing of the kind: a second, plain way of writing it.

`get_batch` draws random numbers and is judged by its properties, so it has no reference.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt


def build_vocab(text: str, start: int = 0) -> tuple[list[str], dict[str, int], dict[int, str]]:
    """Sorted insertion of each character that was not there yet."""
    chars: list[str] = []
    for char in text:
        place = bisect_left(chars, char)
        if chars[place : place + 1] != [char]:
            chars.insert(place, char)
    ids = range(start, start + len(chars))
    return chars, dict(zip(chars, ids, strict=True)), dict(zip(ids, chars, strict=True))


def encode(text: str, stoi: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """A loop that fills the array place by place."""
    ids = np.zeros(len(text), dtype=np.int64)
    for position, char in enumerate(text):
        if char not in stoi:
            raise ValueError(f"character {char!r} at position {position} is not in the vocabulary")
        ids[position] = stoi[char]
    return ids


def decode(ids: Iterable[int], itos: Mapping[int, str]) -> str:
    """A loop that adds character after character."""
    text = ""
    for position, index in enumerate(ids):
        if int(index) not in itos:
            raise ValueError(f"id {int(index)} at position {position} is not in the vocabulary")
        text += itos[int(index)]
    return text


def train_val_split(
    ids: npt.ArrayLike, train_fraction: float = 0.9
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic]]:
    """`numpy.split` at the one place."""
    if not (train_fraction > 0 and train_fraction <= 1):
        raise ValueError(f"train_fraction must be above 0 and at most 1, got {train_fraction}")
    whole = np.asarray(ids)
    train, val = np.split(whole, [int(whole.shape[0] * train_fraction)])
    return train, val

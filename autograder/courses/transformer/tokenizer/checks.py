"""Checks of `tokenizer`: the tokenizer, the split of the text, and batches."""

from typing import Any

import numpy as np
import pytest

from autograder.engine.comparison.compare import require_python
from autograder.engine.fixtures import Agree, Compare, Refuses, Unmodified
from autograder.engine.inputs import Array, RandomInputs
from autograder.engine.reference import Reference
from autograder.engine.student import StudentCode
from autograder.errors import Mismatch

graded = pytest.mark.graded

# Sorted by code point. They include a precomposed accented letter, a combining accent, and a character outside the
# Basic Multilingual Plane.
ODD_CHARACTERS = "\t\n\r !09AZ_az\u00a0ßéñ\u0301Ωж中🙂"


def _numbers(draw: RandomInputs, n: int) -> Array:
    """Return a text of `n` different ids in mixed order: each id occurs at one position only."""
    return (37 * np.arange(n, dtype=np.int64) + int(draw.integers(1, high=1009)[0])) % 1009


class Batches:
    """Calls `get_batch`, compares every window and its targets with the text, and returns where the windows start."""

    def __init__(self, student: StudentCode, compare: Compare) -> None:
        self.student, self.compare = student, compare

    def __call__(self, ids: Array, batch_size: int, block_size: int, rng: Any) -> Array:
        """Return the starts of the windows, (B,).

        Raises:
            Mismatch: if a window is not part of the text, or its targets are not the characters that follow.
        """
        value = self.student.tokenizer.get_batch(ids, batch_size, block_size, rng)
        x = value[0] if isinstance(value, tuple) and value else None
        starts = np.zeros(batch_size, dtype=np.int64)
        if isinstance(x, np.ndarray) and x.shape == (batch_size, block_size):
            starts = np.argmax(x[:, :1] == ids[: len(ids) - block_size], axis=1)
        positions = starts[:, None] + np.arange(block_size, dtype=np.int64)
        text = ids.astype(np.int64)
        try:
            self.compare(value, (text[positions], text[positions + 1]))
        except Mismatch as mismatch:
            y = value[1] if isinstance(value, tuple) and len(value) == 2 else None
            if isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and np.array_equal(x, y):
                mismatch.help = "y is the same as x: its windows must start one position later"
            raise
        return starts


@pytest.fixture(scope="session")
def batches(student: StudentCode, compare: Compare) -> Batches:
    """Return a function: `batches(ids, batch_size, block_size, rng)` checks a batch and returns its starts."""
    return Batches(student, compare)


@graded("tokenizer.build_vocab")
def test_vocab(agree: Agree, draw: RandomInputs) -> None:
    """Every character once, in sorted order"""
    agree("hello world")
    agree(draw.text(60, "zyxwvutsrqponm"))
    agree(draw.text(9, "zyxwvutsrqponm"))


@graded("tokenizer.build_vocab")
def test_vocab_odd_characters(agree: Agree, draw: RandomInputs) -> None:
    """Line breaks, spaces, capitals, accents, other scripts"""
    agree(draw.text(50, ODD_CHARACTERS) + ODD_CHARACTERS[::-1])
    agree(draw.text(9, ODD_CHARACTERS))


@graded("tokenizer.build_vocab")
def test_vocab_start(agree: Agree, draw: RandomInputs) -> None:
    """The first id is not 0"""
    text = draw.text(9, "abcdefghijklmnop")
    agree(text, start=1)
    agree(text, 7)


@graded("tokenizer.build_vocab")
def test_vocab_edges(agree: Agree) -> None:
    """No characters, one character, one character many times"""
    agree("")
    agree("", start=2)
    agree("x")
    agree("\n\n\n", start=1)


@graded("tokenizer.build_vocab", points=0.25)
def test_vocab_types(agree: Agree, draw: RandomInputs) -> None:
    """The ids in stoi are Python integers"""
    _, stoi, _ = agree(draw.text(9, "abcdefghijklmnop"), 2)
    for char, index in stoi.items():
        require_python(index, int, f"stoi[{char!r}]")


@graded("tokenizer.encode", points=2)
def test_encode(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """A text"""
    _, stoi, _ = reference.tokenizer.build_vocab("the quick brown fox")
    agree(draw.text(40, "xofnwrbkciuqht e"), stoi)


@graded("tokenizer.encode")
def test_encode_odd_characters(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """Line breaks, spaces, capitals, accents; the ids do not begin with 0"""
    _, stoi, _ = reference.tokenizer.build_vocab(ODD_CHARACTERS, start=3)
    agree(draw.text(30, ODD_CHARACTERS), stoi)
    agree("\n" + ODD_CHARACTERS[::-1] + " \r\n", stoi)


@graded("tokenizer.encode")
def test_encode_edges(agree: Agree, reference: Reference) -> None:
    """No characters, one character, large ids"""
    _, stoi, _ = reference.tokenizer.build_vocab("abc", start=2**31)
    agree("", stoi)
    agree("", {})
    agree("b", stoi)


@graded("tokenizer.encode")
def test_encode_unknown(refuses: Refuses, reference: Reference) -> None:
    """An unknown character is a ValueError"""
    _, stoi, _ = reference.tokenizer.build_vocab("abc", start=1)
    for text in ("abdc", "zab", "cabA", "ab c", "abc\n"):
        refuses(text, stoi)
    refuses("a", {})


@graded("tokenizer.encode")
def test_encode_unknown_text(refuses: Refuses, reference: Reference) -> None:
    """The message contains the first unknown character and its position"""
    _, stoi, _ = reference.tokenizer.build_vocab("abc")
    text = "abcabcabcabcabcabcabcabWabcQabW"
    refuses(text, stoi, about="W")
    refuses(text, stoi, about="23")


@graded("tokenizer.decode", points=2)
def test_decode(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """An array of ids"""
    _, _, itos = reference.tokenizer.build_vocab("the quick brown fox")
    agree(draw.integers(40, high=len(itos)), itos)


@graded("tokenizer.decode")
def test_decode_odd_characters(agree: Agree, reference: Reference, draw: RandomInputs) -> None:
    """Line breaks, spaces, accents; the ids do not begin with 0"""
    _, _, itos = reference.tokenizer.build_vocab(ODD_CHARACTERS, start=3)
    agree(draw.integers(40, low=3, high=3 + len(itos)), itos)
    agree(np.arange(3 + len(itos), dtype=np.int64)[:2:-1], itos)


@graded("tokenizer.decode")
def test_decode_forms(agree: Agree, reference: Reference) -> None:
    """A list, other integer types, no ids, one id"""
    _, _, itos = reference.tokenizer.build_vocab("abc")
    agree([2, 0, 1, 1], itos)
    agree(np.array([2, 0, 1, 1], dtype=np.uint8), itos)
    agree(np.array([], dtype=np.int64), itos)
    agree([], {})
    agree(np.array([1], np.int64), itos)


@graded("tokenizer.decode")
def test_decode_unknown(refuses: Refuses, reference: Reference) -> None:
    """An unknown id is a ValueError, a negative one too"""
    _, _, itos = reference.tokenizer.build_vocab("abc", start=1)
    # The first one that is accepted shows what is not checked: anything, ids after the first, large ones, negative
    # ones, those below the first of the vocabulary.
    for ids in ([-3, 9], [1, -3, 9], [1, 9], [2, -3], [0, 1], [1, 4, 2], [3, 2, -1]):
        refuses(np.array(ids, np.int64), itos)
    refuses([2, 9], itos)


@graded("tokenizer.decode")
def test_decode_unknown_text(refuses: Refuses, reference: Reference) -> None:
    """The message contains the first unknown id and its position"""
    _, _, itos = reference.tokenizer.build_vocab("abc")
    ids = np.arange(30, dtype=np.int64) % 3
    ids[[23, 27]] = 869, 714
    refuses(ids, itos, about="869")
    refuses(ids, itos, about="23")


@graded("tokenizer.decode")
def test_decode_inputs_kept(unmodified: Unmodified, reference: Reference, draw: RandomInputs) -> None:
    """The ids are not changed"""
    _, _, itos = reference.tokenizer.build_vocab("abcde", start=2)
    unmodified(draw.integers(12, low=2, high=7), itos)


@graded("tokenizer.train_val_split", points=2)
def test_split(agree: Agree, draw: RandomInputs) -> None:
    """The beginning and the end, in order"""
    agree(draw.integers(11, high=50), 0.75)
    agree(draw.integers(23, high=50), train_fraction=0.3)


@graded("tokenizer.train_val_split")
def test_split_default(agree: Agree, draw: RandomInputs) -> None:
    """Nine tenths for training by default"""
    agree(draw.integers(40, high=50))


@graded("tokenizer.train_val_split")
def test_split_dtypes(agree: Agree, draw: RandomInputs) -> None:
    """The integer type is kept"""
    for dtype in (np.int32, np.uint16):
        agree(draw.integers(9, high=50).astype(dtype), 0.5)


@graded("tokenizer.train_val_split")
def test_split_edges(agree: Agree, draw: RandomInputs) -> None:
    """Everything, half of it or nothing for training; an empty text"""
    agree(draw.integers(7, high=50), 1.0)
    agree(draw.integers(7, high=50), 1)
    agree(draw.integers(12, high=50), 0.5)
    agree(draw.integers(1, high=50), 0.5)
    agree(np.array([], dtype=np.int64), 0.5)


@graded("tokenizer.train_val_split")
def test_split_bad_fractions(refuses: Refuses, draw: RandomInputs) -> None:
    """A fraction that is negative or 0 is a ValueError"""
    for fraction in (-0.25, 0.0):
        refuses(draw.integers(8, high=50), fraction)


@graded("tokenizer.train_val_split", points=0.25)
def test_split_large_fractions(refuses: Refuses, draw: RandomInputs) -> None:
    """A fraction above 1 is a ValueError"""
    for fraction in (1.25, 90):
        refuses(draw.integers(8, high=50), fraction)


@graded("tokenizer.train_val_split")
def test_split_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The ids are not changed"""
    unmodified(draw.integers(20, high=50), 0.5)


@graded("tokenizer.get_batch", points=2)
def test_batch(batches: Batches, draw: RandomInputs) -> None:
    """Windows of the text, and the same windows shifted by one"""
    batches(_numbers(draw, 40), 6, 4, draw.rng())
    batches(_numbers(draw, 40), 3, 8, draw.rng())


@graded("tokenizer.get_batch")
def test_batch_edges(batches: Batches, draw: RandomInputs) -> None:
    """One window, windows of one character, a text that is just long enough"""
    batches(_numbers(draw, 20), 1, 5, draw.rng())
    batches(_numbers(draw, 20), 4, 1, draw.rng())
    batches(_numbers(draw, 6), 3, 5, draw.rng())
    batches(_numbers(draw, 2), 5, 1, draw.rng())


@graded("tokenizer.get_batch")
def test_batch_starts(batches: Batches, draw: RandomInputs) -> None:
    """Every start is drawn, the first and the last as often as the others"""
    # A count has mean 750 and standard deviation 24: no correct implementation is ever off by 180.
    counts = np.bincount(batches(_numbers(draw, 10), 3000, 6, draw.rng()), minlength=4)
    for start, count in enumerate(counts):
        if abs(count - 750) > 180:
            raise Mismatch(
                f"{count} of 3000 windows start at {start}; expected about 750 (10 characters, windows of 6)"
            )


@graded("tokenizer.get_batch")
def test_batch_independent(batches: Batches, draw: RandomInputs) -> None:
    """The windows of a batch are drawn independently"""
    starts = batches(_numbers(draw, 5), 400, 3, draw.rng())  # Each start is 0 or 1.
    for pair, count in enumerate(np.bincount(2 * starts[:-1] + starts[1:], minlength=4)):
        if count < 30:  # about 100 expected
            first, second = divmod(pair, 2)
            raise Mismatch(
                f"a window at {second} follows a window at {first} {count} times in a batch of 400; expected about 100"
            )


@graded("tokenizer.get_batch")
def test_batch_rng(batches: Batches, draw: RandomInputs) -> None:
    """The same generator state gives the same batch; another state gives another batch"""
    ids, rng = _numbers(draw, 1000), draw.rng()
    first = batches(ids, 8, 3, rng)
    if not np.array_equal(first, batches(ids, 8, 3, rng)):
        raise Mismatch("two generators with the same seed must give the same batch: draw only from rng")
    if np.array_equal(first, batches(ids, 8, 3, draw.rng())):
        raise Mismatch("generators with different seeds must give different batches: draw the starts from rng")


@graded("tokenizer.get_batch")
def test_batch_dtypes(batches: Batches, draw: RandomInputs) -> None:
    """The result is int64 for every integer type"""
    for dtype in (np.int32, np.uint16):
        batches(_numbers(draw, 15).astype(dtype), 3, 4, draw.rng())


@graded("tokenizer.get_batch")
def test_batch_too_short(refuses: Refuses, draw: RandomInputs) -> None:
    """A text too short for one window and its targets is a ValueError"""
    refuses(_numbers(draw, 5), 2, 5, draw.rng())
    refuses(_numbers(draw, 3), 2, 5, draw.rng())
    refuses(np.array([], dtype=np.int64), 2, 1, draw.rng())


@graded("tokenizer.get_batch")
def test_batch_inputs_kept(unmodified: Unmodified, draw: RandomInputs) -> None:
    """The text is not changed"""
    unmodified(_numbers(draw, 30), 4, 5, draw.rng())

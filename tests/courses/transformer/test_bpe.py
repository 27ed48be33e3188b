"""The official byte-pair encoding agrees with Hugging Face's `tokenizers`, also where checks do not look."""

import random
import sys
import unicodedata

import numpy as np
import pytest
from support.built_in import solution_module

from autograder.courses.transformer.bpe import reference

bpe = solution_module("bpe")
ALPHABETS = ("a", "ab", "aab", "abc", "ab ", "abcd \n", "aé🙂 ", "it's 12.\n\t!re")


def random_text(draw, alphabet, longest):
    return "".join(draw.choices(alphabet, k=draw.randint(0, longest)))


def assigned_characters():
    """Yield the characters that Python's version of Unicode has; the packages have later versions, not always equal."""
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) not in ("Cn", "Cs"):
            yield chr(code)


def test_byte_symbols_are_those_of_tokenizers():
    assert bpe.byte_symbols() == reference.byte_symbols()


@pytest.mark.slow
def test_split_text_agrees_on_every_assigned_character():
    characters = list(assigned_characters())
    assert len(characters) > 140_000
    for start in range(0, len(characters), 2000):
        text = "".join(f"a{char}b1{char}2 {char}  !{char}! " for char in characters[start : start + 2000])
        assert bpe.split_text(text) == reference.split_text(text), f"from {characters[start]!r}"


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_random_texts_agree(alphabet):
    draw = random.Random(alphabet)
    for _ in range(60):
        text, new = random_text(draw, alphabet, 120), random_text(draw, alphabet + " x", 60)
        size = 256 + draw.choice((0, 1, 5, 40, 300))
        merges = bpe.train_bpe(text, size)
        assert merges == reference.train_bpe(text, size)
        vocab = bpe.make_vocab(merges)
        ids = bpe.bpe_encode(new, vocab, merges)
        assert ids.tolist() == reference.bpe_encode(new, vocab, merges).tolist()
        assert bpe.bpe_decode(ids, vocab) == new
        arbitrary = np.array(draw.choices(range(len(vocab)), k=40))
        assert bpe.bpe_decode(arbitrary, vocab) == reference.bpe_decode(arbitrary, vocab)


def test_bpe_decode_arbitrary_bytes_agrees():
    """Python and Rust replace the same parts of invalid UTF-8."""
    draw, vocab = random.Random(0), bpe.make_vocab([])
    by_byte = [vocab[symbol] for _, symbol in sorted(bpe.byte_symbols().items())]
    likely = [0x41, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC3, 0xE0, 0xE4, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]
    for _ in range(500):
        ids = [by_byte[byte] for byte in draw.choices(likely, k=12)]
        assert bpe.bpe_decode(ids, vocab) == reference.bpe_decode(ids, vocab)

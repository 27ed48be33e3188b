"""Tests of `bpe`."""

import numpy as np

from autograder.benchmark.docstring_tests.plain import official, raises


def _symbols():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {byte: chr(byte) for byte in printable}
    others = (byte for byte in range(256) if byte not in table)
    return table | {byte: chr(256 + i) for i, byte in enumerate(others)}


def test_byte_symbols(m):
    assert m.byte_symbols() == _symbols()


def test_split_text(m):
    assert m.split_text("Hello world") == ["Hello", " world"]
    assert m.split_text("I'm here, you've 12 cats!") == ["I", "'m", " here", ",", " you", "'ve", " 12", " cats", "!"]
    assert m.split_text("a  b\n\nc ") == ["a", " ", " b", "\n", "\n", "c", " "]
    assert m.split_text("") == []


def test_train_bpe(m):
    assert m.train_bpe("low low low lower lowest", 259) == [("l", "o"), ("lo", "w"), ("Ġ", "low")]
    assert m.train_bpe("aaaa", 258) == [("a", "a"), ("aa", "aa")]
    assert m.train_bpe("ab", 300) == [("a", "b")]
    assert m.train_bpe("", 300) == []
    raises(ValueError, m.train_bpe, "abc", 255)


MERGES = [("l", "o"), ("lo", "w"), ("Ġ", "low"), ("e", "r")]


def test_bpe_encode(m):
    vocab = official("bpe").make_vocab(MERGES)
    ids = m.bpe_encode("low lower", vocab, MERGES)
    assert np.array_equal(ids, [vocab["low"], vocab["Ġlow"], vocab["er"]])
    assert ids.dtype == np.int64
    assert np.array_equal(m.bpe_encode("é", vocab, MERGES), [vocab[_symbols()[b]] for b in "é".encode()])
    assert len(m.bpe_encode("", vocab, MERGES)) == 0
    raises(ValueError, m.bpe_encode, "abc", {"a": 0}, [])


def test_bpe_decode(m):
    vocab = official("bpe").make_vocab(MERGES)
    for text in ("low lower", "héllo wörld", ""):
        assert m.bpe_decode(official("bpe").bpe_encode(text, vocab, MERGES), vocab) == text
    assert m.bpe_decode([vocab[_symbols()[0xFF]]], vocab) == "\ufffd"
    raises(ValueError, m.bpe_decode, [9999], vocab)

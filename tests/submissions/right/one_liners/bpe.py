"""As few lines as possible."""

import re
from collections import Counter
from functools import reduce

import numpy as np
import regex


def byte_symbols():
    shown = {byte: chr(byte) for byte in range(256) if chr(byte).isprintable() and byte != 32}
    return shown | {byte: chr(256 + i) for i, byte in enumerate(sorted({*range(256)} - {*shown}))}


def split_text(text, pattern=None):
    pattern = pattern or r"'(?:[smtd]|re|ve|ll)|(?: ?(?:\p{L}+|\p{N}+|[^\s\p{N}\p{L}]+))|\s+(?=\s|$)|\s+"
    return [match[0] for match in regex.finditer(pattern, text)]


def _symbols(piece):
    return tuple(map(byte_symbols().get, piece.encode()))


def _join(word, pair):
    # The tokens in a string, each between two characters that no symbol is.
    text = "".join(f"<\0{token}\0>" for token in word)
    merged = re.sub(re.escape(f"<\0{pair[0]}\0><\0{pair[1]}\0>"), lambda _: f"<\0{pair[0]}{pair[1]}\0>", text)
    return tuple(merged[2:-2].split("\0><\0"))


def train_bpe(text, vocab_size):
    if vocab_size < 256:
        raise ValueError(vocab_size)
    words, merges = Counter(map(_symbols, split_text(text))), []
    place = {token: i for i, token in enumerate(sorted(byte_symbols().values()))}
    while len(place) < vocab_size:
        counts = sum((Counter({p: 0}) + Counter({p: n}) for w, n in words.items() for p in zip(w, w[1:])), Counter())
        if not counts:
            return merges
        merges.append(max(counts, key=lambda pair: (counts[pair], -place[pair[0]], -place[pair[1]])))
        place[merges[-1][0] + merges[-1][1]] = len(place)
        words = Counter({_join(word, merges[-1]): n for word, n in words.items()})
    return merges


def bpe_encode(text, vocab, merges, special_tokens=(), pattern=None, ignore_merges=False):
    if special_tokens:
        marks = "|".join(map(re.escape, sorted(special_tokens, key=len)[::-1]))
        parts = [[vocab[part]] if i % 2 else bpe_encode(part, vocab, merges, (), pattern, ignore_merges) for i, part in enumerate(re.split(f"({marks})", text))]
        return np.concatenate(parts).astype("int64")
    # Merges that were learned from a text may also be applied one after the other.
    tokens = [token for piece in split_text(text, pattern) for token in (["".join(_symbols(piece))] if ignore_merges and "".join(_symbols(piece)) in vocab else reduce(_join, merges, _symbols(piece)))]
    if not {*tokens} <= {*vocab}:
        raise ValueError(f"not in the vocabulary: {sorted({*tokens} - {*vocab})}")
    return np.fromiter(map(vocab.get, tokens), "int64")


def bpe_decode(ids, vocab):
    try:
        text = "".join({index: token for token, index in vocab.items()}[int(index)] for index in ids)
    except KeyError as error:
        raise ValueError(f"no token has the id {error}") from None
    return bytes({symbol: byte for byte, symbol in byte_symbols().items()}[s] for s in text).decode(errors="replace")

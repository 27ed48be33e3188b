"""Loops, and no regular expression but for single characters."""

import numpy as np
import regex

LETTER, NUMBER, SPACE = regex.compile(r"\p{L}"), regex.compile(r"\p{N}"), regex.compile(r"\s")


def byte_symbols():
    table = {}
    next_point = 256
    for byte in range(256):
        if 33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(next_point)
            next_point += 1
    return table


def kind(character):
    if LETTER.fullmatch(character):
        return "letter"
    if NUMBER.fullmatch(character):
        return "number"
    if SPACE.fullmatch(character):
        return "space"
    return "other"


def split_text(text, pattern=None):
    if pattern is not None:
        return [match.group() for match in regex.finditer(pattern, text)]
    pieces = []
    at = 0
    while at < len(text):
        end = at
        for ending in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d"):
            if text.startswith(ending, at):
                end = at + len(ending)
                break
        if end == at:
            start = at
            if text[at] == " " and at + 1 < len(text) and kind(text[at + 1]) != "space":
                start = at + 1
            what = kind(text[start])
            end = start
            while end < len(text) and kind(text[end]) == what:
                end += 1
            if what == "space" and end < len(text) and end - at > 1:
                end -= 1
        pieces.append(text[at:end])
        at = end
    return pieces


def train_bpe(text, vocab_size):
    if vocab_size < 256:
        raise ValueError("too small: " + str(vocab_size))
    table = byte_symbols()
    words = []
    for piece in split_text(text):
        word = []
        for byte in piece.encode():
            word.append(table[byte])
        words.append(word)
    vocabulary = sorted(table.values())
    merges = []
    while len(vocabulary) < vocab_size:
        counts = {}
        for word in words:
            for i in range(len(word) - 1):
                pair = (word[i], word[i + 1])
                counts[pair] = counts.get(pair, 0) + 1
        best = None
        for pair in counts:
            if best is None or counts[pair] > counts[best]:
                best = pair
            elif counts[pair] == counts[best]:
                mine = [vocabulary.index(pair[0]), vocabulary.index(pair[1])]
                other = [vocabulary.index(best[0]), vocabulary.index(best[1])]
                if mine < other:
                    best = pair
        if best is None:
            break
        merges.append(best)
        vocabulary.append(best[0] + best[1])
        for word in words:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i] = word[i] + word[i + 1]
                    del word[i + 1]
                i += 1
    return merges


def pieces_of(text, special_tokens, pattern):
    pieces = []
    start = 0
    at = 0
    while at < len(text):
        longest = ""
        for token in special_tokens:
            if text.startswith(token, at) and len(token) > len(longest):
                longest = token
        if longest != "":
            for piece in split_text(text[start:at], pattern):
                pieces.append((piece, False))
            pieces.append((longest, True))
            at += len(longest)
            start = at
        else:
            at += 1
    for piece in split_text(text[start:], pattern):
        pieces.append((piece, False))
    return pieces


def bpe_encode(text, vocab, merges, special_tokens=(), pattern=None, ignore_merges=False):
    table = byte_symbols()
    ids = []
    for piece, is_special in pieces_of(text, special_tokens, pattern):
        if is_special:
            ids.append(vocab[piece])
            continue
        word = [table[byte] for byte in piece.encode()]
        if ignore_merges and "".join(word) in vocab:
            word = ["".join(word)]
        while True:
            lowest = None
            for i in range(len(word) - 1):
                if (word[i], word[i + 1]) in merges:
                    rank = merges.index((word[i], word[i + 1]))
                    if lowest is None or rank < lowest[0]:
                        lowest = (rank, i)
            if lowest is None:
                break
            i = lowest[1]
            word[i : i + 2] = [word[i] + word[i + 1]]
        for token in word:
            if token not in vocab:
                raise ValueError("unknown token " + token)
            ids.append(vocab[token])
    return np.array(ids, dtype=np.int64).reshape(len(ids))


def bpe_decode(ids, vocab):
    table = byte_symbols()
    data = b""
    for index in ids:
        found = None
        for token in vocab:
            if vocab[token] == int(index):
                found = token
        if found is None:
            raise ValueError("unknown id " + str(int(index)))
        for symbol in found:
            for byte in table:
                if table[byte] == symbol:
                    data += bytes([byte])
    return data.decode("utf-8", "replace")

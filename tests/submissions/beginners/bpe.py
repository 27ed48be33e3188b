"""Beginners' wrong answers to `bpe`; each docstring lists the mistakes that the report should name."""

from collections import Counter

import numpy as np
import regex

def byte_symbols__off_by_one():
    """others-from-257"""
    table = {}
    n = 0
    for b in range(256):
        if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255:
            table[b] = chr(b)
        else:
            n += 1
            table[b] = chr(256 + n)
    return table

def byte_symbols__soft_hyphen():
    """173-visible"""
    bs = list(range(ord("!"), ord("~") + 1)) + list(range(ord("¡"), ord("ÿ") + 1))
    cs = bs[:]
    n = 0
    for b in range(256):
        if b not in bs:
            bs.append(b)
            cs.append(256 + n)
            n += 1
    return {b: chr(c) for b, c in zip(bs, cs)}

def byte_symbols__plus_256():
    """byte-added-to-256"""
    table = {}
    for b in range(256):
        visible = 33 <= b <= 126 or 161 <= b <= 172 or b >= 174
        table[b] = chr(b) if visible else chr(b + 256)
    return table

def split_text__split(text):
    """split-at-whitespace"""
    return text.split()

@variants(
    no_lookahead=("last-space-not-left", "w+| ?[^\\s\\w]+|\\s+(?!\\S)", "p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+"),
    space_alone=("space-as-a-piece", "| ?\\w+| ?[^\\s\\w]", "|\\p{L}+|\\p{N}+|[^\\s\\p{L}\\p{N}]"),
)
def split_text__word_characters(text):
    """words-by-w"""
    return regex.findall(r"'s|'t|'re|'ve|'m|'ll|'d| ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+", text)

@variants(
    max=(
        "ties-first-in-the-text",
        "min(counts, key=lambda p: (-counts[p], place[p[0]], place[p[1]]))", "max(counts, key=counts.get)",
    ),
    whole_text=("pairs-across-pieces", "in split_text(text)", "in [text]"),
    set_of_pieces=("pieces-counted-once", "in split_text(text)", "in set(split_text(text))"),
    too_many=("as-many-merges counted-from", "while len(place)", "while len(merges)"),
)
def train_bpe__right(text, vocab_size):
    """base"""
    if vocab_size < 256:
        raise ValueError("too small")
    table = byte_symbols()
    words = [[table[b] for b in piece.encode("utf-8")] for piece in split_text(text)]
    place = {symbol: i for i, symbol in enumerate(sorted(table.values()))}
    merges = []
    while len(place) < vocab_size:
        counts = Counter(pair for word in words for pair in zip(word, word[1:]))
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], place[p[0]], place[p[1]]))
        merges.append(best)
        place["".join(best)] = len(place)
        for word in words:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = ["".join(best)]
                i += 1
    return merges

def bpe_encode__left_to_right(text, vocab, merges):
    """leftmost-first"""
    table = byte_symbols()
    ids = []
    for piece in split_text(text):
        word = [table[b] for b in piece.encode("utf-8")]
        changed = True
        while changed:
            changed = False
            for i in range(len(word) - 1):
                if (word[i], word[i + 1]) in merges:
                    word[i : i + 2] = [word[i] + word[i + 1]]
                    changed = True
                    break
        for token in word:
            if token not in vocab:
                raise ValueError(f"unknown token {token}")
            ids.append(vocab[token])
    return np.array(ids, dtype=np.int64)

def bpe_encode__plain_array(text, vocab, merges):
    """empty-is-float key-error"""
    table = byte_symbols()
    ids = []
    for piece in split_text(text):
        word = [table[b] for b in piece.encode("utf-8")]
        for pair in merges:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == pair:
                    word[i : i + 2] = [word[i] + word[i + 1]]
                i += 1
        ids += [vocab[token] for token in word]
    return np.array(ids)

def bpe_encode__longest_first(text, vocab, merges):
    """longest-token any-token-of-the-vocabulary"""
    table = byte_symbols()
    ids = []
    for piece in split_text(text):
        word = "".join(table[b] for b in piece.encode("utf-8"))
        while word:
            for end in range(len(word), 0, -1):
                if word[:end] in vocab:
                    ids.append(vocab[word[:end]])
                    word = word[end:]
                    break
            else:
                raise ValueError(f"unknown token {word[0]}")
    return np.array(ids, dtype=np.int64)

def bpe_encode__ranks_get(text, vocab, merges):
    """first-merge-skipped"""
    table = byte_symbols()
    ranks = dict(zip(merges, range(len(merges))))
    ids = []
    for piece in split_text(text):
        word = [table[b] for b in piece.encode("utf-8")]
        while True:
            found = [ranks[p] for p in zip(word, word[1:]) if ranks.get(p)]
            if not found:
                break
            a, b = merges[min(found)]
            i = 0
            while i < len(word) - 1:
                if word[i] == a and word[i + 1] == b:
                    word[i : i + 2] = [a + b]
                i += 1
        for token in word:
            if token not in vocab:
                raise ValueError(f"unknown token {token}")
        ids += [vocab[token] for token in word]
    return np.array(ids, dtype=np.int64)

def bpe_decode__strict(ids, vocab):
    """strict key-error"""
    tokens = {i: t for t, i in vocab.items()}
    inverse = {s: b for b, s in byte_symbols().items()}
    return bytes([inverse[s] for i in ids for s in tokens[int(i)]]).decode("utf-8")

def bpe_decode__token_by_token(ids, vocab):
    """each-token-alone"""
    tokens = {i: t for t, i in vocab.items()}
    inverse = {s: b for b, s in byte_symbols().items()}
    text = ""
    for i in ids:
        if int(i) not in tokens:
            raise ValueError(f"unknown id {i}")
        text += bytes([inverse[s] for s in tokens[int(i)]]).decode("utf-8", errors="replace")
    return text

def bpe_decode__list_of_tokens(ids, vocab):
    """position-for-id"""
    tokens = list(vocab)
    for i in ids:
        if i < 0 or i >= len(tokens):
            raise ValueError(f"unknown id {i}")
    inverse = {s: b for b, s in byte_symbols().items()}
    return bytes([inverse[s] for i in ids for s in tokens[i]]).decode("utf-8", errors="replace")

def bpe_decode__ignore(ids, vocab):
    """ignored"""
    tokens = {i: t for t, i in vocab.items()}
    inverse = {s: b for b, s in byte_symbols().items()}
    data = []
    for i in ids:
        if int(i) not in tokens:
            raise ValueError(f"{i} is not in the vocabulary")
        data += [inverse[s] for s in tokens[int(i)]]
    return bytes(data).decode("utf-8", errors="ignore")

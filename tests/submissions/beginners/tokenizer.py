"""Beginners' wrong answers to `tokenizer`; each docstring lists the mistakes that the report should name."""

import numpy as np

def build_vocab__order_of_appearance(text, start=0):
    """not-sorted"""
    chars = []
    for c in text:
        if c not in chars:
            chars.append(c)
    stoi = {}
    itos = {}
    for i in range(len(chars)):
        stoi[chars[i]] = i + start
        itos[i + start] = chars[i]
    return chars, stoi, itos

def build_vocab__start_ignored(text, start=0):
    """start-ignored"""
    chars = sorted(list(set(text)))
    stoi = {ch: i for i, ch in enumerate(chars)}
    itos = {i: ch for i, ch in enumerate(chars)}
    return chars, stoi, itos

def build_vocab__string(text, start=0):
    """characters-as-a-string"""
    chars = "".join(sorted(set(text)))
    stoi = {c: i + start for i, c in enumerate(chars)}
    itos = {i + start: c for i, c in enumerate(chars)}
    return chars, stoi, itos

def build_vocab__two_results(text, start=0):
    """-"""
    chars = sorted(set(text))
    stoi = {c: i + start for i, c in enumerate(chars)}
    itos = {i + start: c for i, c in enumerate(chars)}
    return stoi, itos

def build_vocab__unsorted_and_start(text, start=0):
    """not-sorted start-ignored"""
    chars = list(dict.fromkeys(text))
    stoi = {c: i for i, c in enumerate(chars)}
    itos = {i: c for c, i in stoi.items()}
    return chars, stoi, itos

def build_vocab__list_for_itos(text, start=0):
    """itos-as-a-list"""
    chars = sorted(set(text))
    stoi = {c: i + start for i, c in enumerate(chars)}
    return chars, stoi, chars

@variants(
    list=("list key-error", "np.array([stoi[c] for c in text])", "[stoi[c] for c in text]"),
    code_points=("code-points", "[stoi[c] for c in text]", "[ord(c) for c in text], dtype=np.int64"),
    skips=("unknown-skipped", "[stoi[c] for c in text]", "[stoi[c] for c in text if c in stoi], dtype=np.int64"),
)
def encode__plain_comprehension(text, stoi):
    """key-error empty-is-float"""
    return np.array([stoi[c] for c in text])

def encode__short_message(text, stoi):
    """message-incomplete"""
    for c in text:
        if c not in stoi:
            raise ValueError("unknown character " + c)
    return np.array([stoi[c] for c in text], dtype=np.int64)

def encode__empty_is_float(text, stoi):
    """empty-is-float"""
    ids = []
    for position, c in enumerate(text):
        if c not in stoi:
            raise ValueError(f"character {c!r} at position {position} is not in the vocabulary")
        ids.append(stoi[c])
    return np.array(ids)

def encode__floats(text, stoi):
    """floats"""
    out = np.zeros(len(text))
    for i, c in enumerate(text):
        if c not in stoi:
            raise ValueError(f"character {c!r} at position {i} is not in the vocabulary")
        out[i] = stoi[c]
    return out

@variants(
    list=("list key-error", '"".join([itos[i] for i in ids])', "[itos[i] for i in ids]"),
    question_mark=("unknown-replaced", "[itos[i] for i in ids]", 'itos.get(int(i), "?") for i in ids'),
    unknown_as_empty=("unknown-skipped", "[itos[i] for i in ids]", 'itos.get(int(i), "") for i in ids'),
)
def decode__plain_comprehension(ids, itos):
    """key-error"""
    return "".join([itos[i] for i in ids])

def decode__ids_as_list_indices(ids, itos):
    """counted-from-zero"""
    chars = list(itos.values())
    text = ""
    for i in ids:
        if i >= len(chars):
            raise ValueError(f"id {i} at position {list(ids).index(i)} is not in the vocabulary")
        text += chars[i]
    return text

def train_val_split__fraction_ignored(ids, train_fraction=0.9):
    """fraction-ignored"""
    if train_fraction <= 0 or train_fraction > 1:
        raise ValueError("bad fraction")
    n = int(0.9 * len(ids))
    return ids[:n], ids[n:]

@variants(
    rounded_and_not_checked=("rounded fraction-not-checked", "n = int", "n = round"),
    float_index=("size-not-whole effect-other-error", "int(len(ids) * train_fraction)", "len(ids) * train_fraction"),
    only_training=("effect-error-not-raised", ", ids[n:]", ""),
    ceil=("fraction-not-checked rounded-up", "len(ids) * train_fraction", "np.ceil(train_fraction * len(ids))"),
)
def train_val_split__not_checked(ids, train_fraction=0.9):
    """fraction-not-checked"""
    n = int(len(ids) * train_fraction)
    return ids[:n], ids[n:]

def get_batch__not_shifted(ids, batch_size, block_size, rng):
    """not-shifted"""
    starts = rng.integers(0, len(ids) - block_size, size=batch_size)
    x = np.stack([ids[s : s + block_size] for s in starts]).astype(np.int64)
    y = np.stack([ids[s : s + block_size] for s in starts]).astype(np.int64)
    return x, y

def get_batch__dtype(ids, batch_size, block_size, rng):
    """dtype-kept"""
    starts = rng.integers(0, len(ids) - block_size, size=batch_size)
    x = np.stack([ids[s : s + block_size] for s in starts])
    y = np.stack([ids[s + 1 : s + 1 + block_size] for s in starts])
    return x, y

def get_batch__single_start(ids, batch_size, block_size, rng):
    """same-window"""
    if len(ids) < block_size + 1:
        raise ValueError("too short")
    s = rng.integers(0, len(ids) - block_size)
    x = np.array([ids[s : s + block_size]] * batch_size, dtype=np.int64)
    y = np.array([ids[s + 1 : s + 1 + block_size]] * batch_size, dtype=np.int64)
    return x, y

def get_batch__lists(ids, batch_size, block_size, rng):
    """lists"""
    starts = rng.integers(0, len(ids) - block_size, size=batch_size)
    x = [ids[s : s + block_size].tolist() for s in starts]
    y = [ids[s + 1 : s + 1 + block_size].tolist() for s in starts]
    return x, y

def get_batch__next_block(ids, batch_size, block_size, rng):
    """next-window"""
    starts = rng.integers(0, len(ids) - 2 * block_size, size=batch_size)
    x = np.stack([ids[s : s + block_size] for s in starts]).astype(np.int64)
    y = np.stack([ids[s + block_size : s + 2 * block_size] for s in starts]).astype(np.int64)
    return x, y

def build_vocab__start_plus_one(text, start=0):
    """start-plus-one"""
    chars = sorted(set(text))
    return chars, {c: i for i, c in enumerate(chars, start + 1)}, {i: c for i, c in enumerate(chars, start + 1)}

def build_vocab__reverse(text, start=0):
    """descending"""
    chars = sorted(set(text), reverse=True)
    return chars, {c: i for i, c in enumerate(chars, start)}, {i: c for i, c in enumerate(chars, start)}

def encode__index_of_keys(text, stoi):
    """counted-from-zero"""
    keys = list(stoi)
    return np.array([keys.index(c) for c in text], dtype=np.int64)

def encode__int32(text, stoi):
    """int32"""
    if not set(text) <= set(stoi): raise ValueError("unknown character")
    return np.array([stoi[c] for c in text], dtype=np.int32)

def train_val_split__val_from_n_plus_1(ids, train_fraction=0.9):
    """gap above-one-accepted effect-error-not-raised fraction-not-checked"""
    n = int(train_fraction * len(ids))
    return ids[:n], ids[n + 1:]

def train_val_split__negative(ids, train_fraction=0.9):
    """cut-from-the-end effect-error-not-raised"""
    n = int((1 - train_fraction) * len(ids))
    return ids[:-n], ids[-n:]

def train_val_split__val_fraction(ids, train_fraction=0.9):
    """fraction-for-validation effect-error-not-raised"""
    n = int((1 - train_fraction) * len(ids))
    return ids[:n], ids[n:]

@variants(
    endpoint=("one-start-too-many-by-slices", " - 1, batch_size", ", batch_size, endpoint=True"),
)
def get_batch__last_start_missing_with_stack(ids, batch_size, block_size, rng):
    """last-start-missing"""
    ids = np.asarray(ids, np.int64)
    if len(ids) < block_size + 1: raise ValueError("short")
    ix = rng.integers(0, len(ids) - block_size - 1, batch_size)
    return np.stack([ids[i:i + block_size] for i in ix]), np.stack([ids[i + 1:i + block_size + 1] for i in ix])

@variants(
    only_next_char=("one-answer-per-window", "2:i + block_size + 2", "block_size"),
)
def get_batch__shift_two(ids, batch_size, block_size, rng):
    """shifted-by-two"""
    ids = np.asarray(ids, np.int64)
    if len(ids) < block_size + 1: raise ValueError("short")
    ix = rng.integers(0, len(ids) - block_size, batch_size)
    return np.stack([ids[i:i + block_size] for i in ix]), np.stack([ids[i + 2:i + block_size + 2] for i in ix])

def get_batch__xy_swapped(ids, batch_size, block_size, rng):
    """shifted-backwards"""
    ids = np.asarray(ids, np.int64)
    if len(ids) < block_size + 1: raise ValueError("short")
    ix = rng.integers(0, len(ids) - block_size, batch_size)
    return np.stack([ids[i + 1:i + block_size + 1] for i in ix]), np.stack([ids[i:i + block_size] for i in ix])

def get_batch__multiples(ids, batch_size, block_size, rng):
    """blocks-side-by-side"""
    ids = np.asarray(ids, np.int64)
    if len(ids) < block_size + 1: raise ValueError("short")
    ix = rng.integers(0, (len(ids) - 1) // block_size, batch_size) * block_size
    return np.stack([ids[i:i + block_size] for i in ix]), np.stack([ids[i + 1:i + block_size + 1] for i in ix])

def build_vocab__case_ignored_in_order(text, start=0):
    """sorted-without-case"""
    chars = sorted(sorted(set(text)), key=str.lower)
    stoi = {ch: i for i, ch in enumerate(chars, start)}
    return chars, stoi, {i: ch for ch, i in stoi.items()}

def build_vocab__numpy_ids(text, start=0):
    """ids-as-numpy"""
    chars = sorted(set(text))
    ids = np.arange(start, start + len(chars))
    return chars, dict(zip(chars, ids)), dict(zip(ids, chars))

def encode__first_of_sorted_unknown(text, stoi):
    """another-unknown-character"""
    unknown = sorted(set(text) - set(stoi))
    if unknown:
        raise ValueError(f"character {unknown[0]!r} at position {text.index(unknown[0])} is not in the vocabulary")
    return np.array(list(map(stoi.get, text)), dtype=np.int64)

def decode__range_check(ids, itos):
    """ids-compared-zero-to-maximum"""
    out, last = [], max(itos, default=-1)
    for position, i in enumerate(ids):
        if i < 0 or i > last:
            raise ValueError(f"id {i} at position {position} is not in the vocabulary")
        out.append(itos[int(i)])
    return "".join(out)

def train_val_split__val_from_end(ids, train_fraction=0.9):
    """validation-from-the-end"""
    if not 0 < train_fraction <= 1:
        raise ValueError("bad fraction")
    n = int(len(ids) * train_fraction)
    n_val = len(ids) - n
    return ids[:n], ids[-n_val:]

def train_val_split__zero_allowed(ids, train_fraction=0.9):
    """zero-accepted"""
    if train_fraction < 0 or train_fraction > 1:
        raise ValueError("bad fraction")
    n = int(len(ids) * train_fraction)
    return ids[:n], ids[n:]

def get_batch__sorted(ids, batch_size, block_size, rng):
    """starts-sorted"""
    if len(ids) < block_size + 1:
        raise ValueError("too short")
    starts = np.sort(rng.integers(0, len(ids) - block_size, size=batch_size))
    idx = starts[:, None] + np.arange(block_size)
    return ids[idx].astype(np.int64), ids[idx + 1].astype(np.int64)

def get_batch__one_window_refused(ids, batch_size, block_size, rng):
    """effect-allowed-input-refused"""
    if len(ids) <= block_size + 1:
        raise ValueError(f"{len(ids)} characters are too few for windows of {block_size}")
    starts = rng.integers(0, len(ids) - block_size, size=batch_size)
    idx = starts[:, None] + np.arange(block_size)
    return ids[idx].astype(np.int64), ids[idx + 1].astype(np.int64)

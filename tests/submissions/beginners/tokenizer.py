"""Beginners' wrong answers to `tokenizer`; each docstring lists the mistakes that the report should name."""

import numpy as np

@variants(
    order_of_appearance=("not-sorted", "sorted(set(text))", "list(dict.fromkeys(text))"),
    start_ignored=("start-ignored", ", start)}", ")}"),
    unsorted_and_start=(
        "not-sorted start-ignored", "sorted(set(text))", "list(dict.fromkeys(text))", ", start)}", ")}",
    ),
    start_plus_one=("start-plus-one", ", start)}", ", start + 1)}"),
    string=("characters-as-a-string", "sorted(set(text))", '"".join(sorted(set(text)))'),
    reverse=("descending", "sorted(set(text))", "sorted(set(text), reverse=True)"),
    case_ignored_in_order=("sorted-without-case", "sorted(set(text))", "sorted(sorted(set(text)), key=str.lower)"),
    two_results=("-", "return chars, ", "return "),
    list_for_itos=("itos-as-a-list", "stoi, itos", "stoi, chars"),
)
def build_vocab__right(text, start=0):
    """base"""
    chars = sorted(set(text))
    stoi = {c: i for i, c in enumerate(chars, start)}
    itos = {i: c for c, i in stoi.items()}
    return chars, stoi, itos

@variants(
    list=("list key-error", "np.array([stoi[c] for c in text])", "[stoi[c] for c in text]"),
    code_points=("code-points", "[stoi[c] for c in text]", "[ord(c) for c in text], dtype=np.int64"),
    skips=("unknown-skipped", "[stoi[c] for c in text]", "[stoi[c] for c in text if c in stoi], dtype=np.int64"),
)
def encode__plain_comprehension(text, stoi):
    """key-error empty-is-float"""
    return np.array([stoi[c] for c in text])

@variants(
    short_message=(
        "message-incomplete", 'f"character {c!r} at position {position} is not in the vocabulary"',
        '"unknown character " + c', "np.array(ids)", "np.array(ids, dtype=np.int64)",
    ),
)
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

@variants(
    rounded_and_not_checked=("rounded fraction-not-checked", "n = int", "n = round"),
    float_index=("size-not-whole effect-other-error", "int(len(ids) * train_fraction)", "len(ids) * train_fraction"),
    only_training=("effect-error-not-raised", ", ids[n:]", ""),
    ceil=("fraction-not-checked rounded-up", "len(ids) * train_fraction", "np.ceil(train_fraction * len(ids))"),
    val_from_n_plus_1=("gap above-one-accepted effect-error-not-raised fraction-not-checked", "ids[n:]", "ids[n + 1:]"),
    val_fraction=(
        "fraction-for-validation effect-error-not-raised", "len(ids) * train_fraction", "(1 - train_fraction) * len(ids)",
    ),
    negative=(
        "cut-from-the-end effect-error-not-raised", "len(ids) * train_fraction", "(1 - train_fraction) * len(ids)",
        "ids[:n], ids[n:]", "ids[:-n], ids[-n:]",
    ),
)
def train_val_split__not_checked(ids, train_fraction=0.9):
    """fraction-not-checked"""
    n = int(len(ids) * train_fraction)
    return ids[:n], ids[n:]

@variants(
    not_shifted=("not-shifted", "ids[i + 1:i + block_size + 1]", "ids[i:i + block_size]"),
    shift_two=("shifted-by-two", "ids[i + 1:i + block_size + 1]", "ids[i + 2:i + block_size + 2]"),
    xy_swapped=("shifted-backwards", "return x, y", "return y, x"),
    only_next_char=("one-answer-per-window", "ids[i + 1:i + block_size + 1]", "ids[i + block_size]"),
    next_block=(
        "next-window", "ids[i + 1:i + block_size + 1]", "ids[i + block_size:i + 2 * block_size]",
        "len(ids) - block_size, batch", "len(ids) - 2 * block_size, batch",
    ),
    last_start_missing_with_stack=("last-start-missing", "block_size, batch_size)", "block_size - 1, batch_size)"),
    endpoint=("one-start-too-many-by-slices", ", batch_size)\n", ", batch_size, endpoint=True)\n"),
    multiples=(
        "blocks-side-by-side",
        "len(ids) - block_size, batch_size)", "(len(ids) - 1) // block_size, batch_size) * block_size",
    ),
    single_start=("same-window", "    x = np", "    ix = ix[:1].repeat(batch_size)\n    x = np"),
    sorted=("starts-sorted", "    x = np", "    ix = np.sort(ix)\n    x = np"),
    dtype=("dtype-kept", "np.asarray(ids, np.int64)", "np.asarray(ids)"),
    lists=("lists", "return x, y", "return x.tolist(), y.tolist()"),
    one_window_refused=("one-window-refused", "len(ids) < block_size + 1", "len(ids) <= block_size + 1"),
)
def get_batch__right(ids, batch_size, block_size, rng):
    """base"""
    ids = np.asarray(ids, np.int64)
    if len(ids) < block_size + 1: raise ValueError("short")
    ix = rng.integers(0, len(ids) - block_size, batch_size)
    x = np.stack([ids[i:i + block_size] for i in ix])
    y = np.stack([ids[i + 1:i + block_size + 1] for i in ix])
    return x, y

def encode__index_of_keys(text, stoi):
    """counted-from-zero"""
    keys = list(stoi)
    return np.array([keys.index(c) for c in text], dtype=np.int64)

def encode__int32(text, stoi):
    """int32"""
    if not set(text) <= set(stoi): raise ValueError("unknown character")
    return np.array([stoi[c] for c in text], dtype=np.int32)

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

@variants(
    fraction_ignored=(
        "fraction-ignored", "train_fraction < 0", "train_fraction <= 0", "len(ids) * train_fraction", "0.9 * len(ids)",
    ),
    val_from_end=("validation-from-the-end", "train_fraction < 0", "train_fraction <= 0", "ids[n:]", "ids[n - len(ids):]"),
)
def train_val_split__zero_allowed(ids, train_fraction=0.9):
    """zero-accepted"""
    if train_fraction < 0 or train_fraction > 1:
        raise ValueError("bad fraction")
    n = int(len(ids) * train_fraction)
    return ids[:n], ids[n:]

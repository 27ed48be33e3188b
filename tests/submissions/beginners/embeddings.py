"""Beginners' wrong answers to `embeddings`; each docstring lists the mistakes that the report should name."""

import numpy as np

from softmax import as_float

from embeddings import embed_tokens, one_hot

@variants(
    all_columns=(
        "columns-of-all-ids ids-not-checked-by-pairs", "len(ids), vocab", "*ids.shape, vocab",
        "np.arange(len(ids)), ids", "..., ids",
    ),
    transposed=(
        "new-axis-first one-text-only ids-not-checked-by-index", "len(ids), vocab_size", "vocab_size, len(ids)",
        "np.arange(len(ids)), ids", "ids, np.arange(len(ids))",
    ),
)
def one_hot__one_text(ids, vocab_size):
    """one-text-only ids-not-checked-by-pairs"""
    out = np.zeros((len(ids), vocab_size))
    out[np.arange(len(ids)), ids] = 1
    return out

def one_hot__integers_one_text(ids, vocab_size):
    """one-text-only integers ids-not-checked-by-index"""
    out = np.zeros((len(ids), vocab_size), dtype=int)
    for i, token in enumerate(ids):
        out[i][token] = 1
    return out

def one_hot__booleans(ids, vocab_size):
    """booleans ids-not-checked"""
    return ids[..., np.newaxis] == np.arange(vocab_size)

@variants(
    integers=("integers ids-not-checked-by-index", "ids.max() + 1", "vocab_size, dtype=int"),
    float32=("float32 ids-not-checked-by-index", "ids.max() + 1", "vocab_size, dtype=np.float32"),
    vocab_plus_one=("one-column-too-many effect-other-error", "ids.max()", "vocab_size"),
)
def one_hot__as_wide_as_largest_id(ids, vocab_size):
    """as-wide-as-the-largest-id effect-error-not-raised"""
    return np.eye(ids.max() + 1)[ids]

@variants(
    take=("take-without-axis effect-error-not-raised", "W_tok[:, ids]", "np.take(W_tok, ids)"),
    one_hot=("always-float64", "W_tok[:, ids]", "one_hot(ids, len(W_tok)) @ W_tok"),
    no_check=("ids-not-checked", ":, ids", "ids"),
    flat=("batch-flattened ids-not-checked", "[:, ids]", "[ids.flatten()] * 1.0"),
    list_comprehension=("ids-not-checked single-id-refused-loop", "W_tok[:, ids]", "np.array([W_tok[i] for i in ids])"),
)
def embed_tokens__columns(ids, W_tok):
    """columns-not-rows effect-other-error"""
    return W_tok[:, ids]

def embed_tokens__loop(ids, W_tok):
    """one-text-only ids-not-checked"""
    out = np.zeros((len(ids), W_tok.shape[1]))
    for i in range(len(ids)):
        out[i] = W_tok[ids[i]]
    return out

@variants(
    add_at=("always-float64 ids-not-checked-by-index", ", dtype=dout.dtype", ""),
    plus_equals=(
        "repeats-lost repeats-overwritten ids-not-checked-by-index", ", dtype=dout.dtype", "",
        "np.add.at(dW, ids, dout)", "dW[ids] += dout",
    ),
)
def embed_tokens_backward__no_check(dout, ids, vocab_size):
    """ids-not-checked-by-index"""
    dW = np.zeros((vocab_size, dout.shape[-1]), dtype=dout.dtype)
    np.add.at(dW, ids, dout)
    return dW

def embed_tokens_backward__loop(dout, ids, vocab_size):
    """one-text-only ids-not-checked-by-index"""
    dW = np.zeros((vocab_size, dout.shape[-1]))
    for i in range(len(ids)):
        dW[ids[i]] += dout[i]
    return dW

def embed_tokens_backward__one_hot_transposed(dout, ids, vocab_size):
    """effect-only-where"""
    return one_hot(ids, vocab_size).T @ dout

def embed_tokens_backward__divided_by_positions(dout, ids, vocab_size):
    """divided-by-places always-float64"""
    hot = one_hot(ids.reshape(-1), vocab_size)
    return hot.T @ dout.reshape(-1, dout.shape[-1]) / ids.size

@variants(
    exponent_doubled=("exponent-doubled", "table[pos, i ", "if i + 1 < d_model:\n                table[pos, i "),
    columns_doubled=(
        "column-number-doubled odd-width-by-loop", "cos(pos / (10000 ** (2 * i", "cos(pos / (10000 ** (2 * (i + 1)",
    ),
)
def sinusoidal_positions__exponent_doubled_even_only(length, d_model):
    """exponent-doubled odd-width-by-loop"""
    table = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(0, d_model, 2):
            table[pos, i] = np.sin(pos / (10000 ** (2 * i / d_model)))
            table[pos, i + 1] = np.cos(pos / (10000 ** (2 * i / d_model)))
    return table

def sinusoidal_positions__cosine_with_own_exponent(length, d_model):
    """cosine-with-its-own-exponent last-column-empty"""
    table = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model // 2):
            table[pos, 2 * i] = np.sin(pos / 10000 ** (2 * i / d_model))
            table[pos, 2 * i + 1] = np.cos(pos / 10000 ** ((2 * i + 1) / d_model))
    return table

def sinusoidal_positions__last_column(length, d_model):
    """last-column-empty"""
    table = np.zeros((length, d_model))
    for i in range(d_model // 2):
        angle = np.arange(length) / 10000 ** (2 * i / d_model)
        table[:, 2 * i] = np.sin(angle)
        table[:, 2 * i + 1] = np.cos(angle)
    return table

def sinusoidal_positions__concatenated(length, d_model):
    """halves-not-interleaved odd-width-one-column-more"""
    pos = np.arange(length)[:, None]
    i = np.arange(0, d_model, 2)
    angles = pos / 10000 ** (i / d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)

def sinusoidal_positions__one_based(length, d_model):
    """one-based"""
    table = np.zeros((length, d_model))
    for pos in range(1, length + 1):
        for i in range(0, d_model, 2):
            table[pos - 1, i] = np.sin(pos / 10000 ** (i / d_model))
            if i + 1 < d_model:
                table[pos - 1, i + 1] = np.cos(pos / 10000 ** (i / d_model))
    return table

def embed__second_axis(ids, W_tok, W_pos, scale=1.0):
    """length-of-second-axis"""
    T = ids.shape[1]
    return embed_tokens(ids, W_tok) * scale + W_pos[:T]

def embed__len_of_ids(ids, W_tok, W_pos, scale=1.0):
    """length-of-first-axis too-long-accepted"""
    return embed_tokens(ids, W_tok) * scale + W_pos[: len(ids)]

def embed__two_axes(ids, W_tok, W_pos, scale=1.0):
    """two-axes-only positions-by-index"""
    B, T = ids.shape
    return scale * embed_tokens(ids, W_tok) + W_pos[np.arange(T)]

def embed__no_scale(ids, W_tok, W_pos, scale=1.0):
    """scale-ignored too-long-accepted"""
    return embed_tokens(ids, W_tok) + W_pos[: ids.shape[-1]]

@variants(
    positions_by_id=("position-of-the-token effect-other-error", "+ W_pos", "+ W_pos[ids]"),
    all_scaled=(
        "sum-scaled effect-other-error too-long-accepted",
        "W_tok[ids] * scale + W_pos", "(W_tok[ids] + W_pos[: ids.shape[-1]]) * scale",
    ),
    scaled_by_d=(
        "scaled-by-width effect-error-not-raised effect-other-error",
        "scale + W_pos", "W_tok.shape[-1] + W_pos[: ids.shape[-1]]",
    ),
    in_place=(
        "table-in-place effect-other-error too-long-accepted",
        "return W_tok[ids] * scale + W_pos", "W_tok *= scale\n    return W_tok[ids] + W_pos[: ids.shape[-1]]",
    ),
)
def embed__all_positions(ids, W_tok, W_pos, scale=1.0):
    """all-positions effect-other-error too-long-accepted"""
    return W_tok[ids] * scale + W_pos

@variants(
    new_axis_on_columns=("new-axis-on-columns", "(0, d_model, 2)", "(0, d_model, 2)[:, None]"),
    torch_style=("odd-width", "np.arange(length)", "np.arange(length)[:, None]"),
)
def sinusoidal_positions__no_new_axis_with_exp(length, d_model):
    """new-axis-missing"""
    pos = np.arange(length)
    div = np.exp(np.arange(0, d_model, 2) * -(np.log(10000.0) / d_model))
    t = np.zeros((length, d_model))
    t[:, 0::2] = np.sin(pos * div)
    t[:, 1::2] = np.cos(pos * div)
    return t

def sinusoidal_positions__all_sine(length, d_model):
    """sines-only"""
    a = np.arange(length)[:, None] / 10000 ** (np.arange(d_model) // 2 * 2 / d_model)
    return np.sin(a)

@variants(
    float32_angles=(
        "float32-angles", "np.arange(length)", "np.arange(length, dtype=np.float32)", "a[None]", "a.astype(np.float64)",
        "10000, (2 * (i // 2)) / np.float32(d_model)",
        "np.float32(10000), ((2 * (i // 2)) / d_model).astype(np.float32)",
    ),
)
def sinusoidal_positions__batch(length, d_model):
    """axis-for-the-batch"""
    pos = np.arange(length)[:, None]; i = np.arange(d_model)[None, :]
    a = pos / np.power(10000, (2 * (i // 2)) / np.float32(d_model))
    a[:, 0::2] = np.sin(a[:, 0::2]); a[:, 1::2] = np.cos(a[:, 1::2])
    return a[None]

@variants(base_and_own_exponent=("cosine-with-its-own-exponent base-1000", "/ 10000", "/ 1000.0"))
def sinusoidal_positions__exponent_of_each_column(length, d_model):
    """cosine-with-its-own-exponent"""
    a = np.arange(length)[:, None] / 10000 ** (np.arange(d_model) / d_model)
    t = np.sin(a); t[:, 1::2] = np.cos(a[:, 1::2])
    return t

def embed__multiplied(ids, W_tok, W_pos, scale=1.0):
    """multiplied effect-error-not-raised effect-other-error"""
    return as_float(W_tok)[ids] * scale * as_float(W_pos)[: ids.shape[-1]]

def embed_tokens_backward__mean_of_repeats(dout, ids, vocab_size):
    """mean-of-repeats ids-not-checked-by-index"""
    flat, d = np.ravel(ids), dout.reshape(-1, dout.shape[-1])
    dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)
    for v in np.unique(flat):
        dW[v] = d[flat == v].mean(0)
    return dW

def one_hot__only_upper(ids, vocab_size):
    """negative-ids-accepted"""
    if np.any(np.asarray(ids) >= vocab_size):
        raise ValueError("id too large")
    return np.eye(vocab_size)[ids]

def embed_tokens__off_by_one(ids, W_tok):
    """id-after-the-last-accepted"""
    if np.any(ids < 0) or np.any(ids > len(W_tok)):
        raise ValueError("id outside the vocabulary")
    return W_tok[ids]

def embed_tokens_backward__last_text(dout, ids, vocab_size):
    """last-text-only"""
    if np.any(ids < 0) or np.any(ids >= vocab_size):
        raise ValueError("id outside the vocabulary")
    ids = np.atleast_1d(ids)
    dout = dout.reshape(*ids.shape, dout.shape[-1])
    for b in np.ndindex(ids.shape[:-1]):
        dW = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)
        np.add.at(dW, ids[b], dout[b])
    return dW

def sinusoidal_positions__odd_rounded_up(length, d_model):
    """odd-width-rounded-up"""
    width, d_model = d_model, d_model + d_model % 2
    angle = np.arange(length)[:, None] / 10000.0 ** (np.arange(0, d_model, 2) / d_model)
    pe = np.zeros((length, d_model))
    pe[:, 0::2], pe[:, 1::2] = np.sin(angle), np.cos(angle)
    return pe[:, :width]

def embed__default_root(ids, W_tok, W_pos, scale=None):
    """scale-defaults-to-root-of-width"""
    if scale is None:
        scale = float(np.sqrt(W_tok.shape[-1]))
    if ids.shape[-1] > len(W_pos):
        raise ValueError("too long")
    return embed_tokens(ids, W_tok) * scale + W_pos[: ids.shape[-1]]

"""Beginners' wrong answers to `attention`; each docstring lists the mistakes that the report should name."""

import math

import numpy as np

from softmax import as_float, softmax

def causal_average_matmul__not_normalised(x):
    """rows-not-normalised always-float64"""
    T = x.shape[-2]
    return np.tril(np.ones((T, T))) @ x

@variants(
    no_keepdims=("keepdims-forgotten always-float64", ", keepdims=True", ""),
    upper=("upper-triangle always-float64", "np.tril", "np.triu"),
    second_axis=("second-axis", "x.shape[-2]", "x.shape[1]", "np.ones((T, T))", "np.ones((T, T), dtype=x.dtype)"),
)
def causal_average_matmul__float64(x):
    """always-float64"""
    T = x.shape[-2]
    A = np.tril(np.ones((T, T)))
    A = A / A.sum(axis=1, keepdims=True)
    return A @ x

@variants(
    numbers=("numbers effect-error-not-raised", ", dtype=bool", ""),
    integers=("integers effect-error-not-raised", "dtype=bool", "dtype=int"),
    numbers_unaligned=("aligned-with-the-first-keys numbers effect-error-not-raised", ", dtype=bool), offset", ")"),
    keys_ignored=("keys-ignored effect-error-not-raised", "n_keys), dtype=bool), offset", "n_queries), dtype=bool)"),
    keys_required=("keys-required", "n_keys or n_queries", "n_keys"),
    inverted=("inverted effect-error-not-raised", "np.tril", "np.triu", ", offset)", ", offset + 1)"),
    inverted_plain=("inverted-from-the-first-keys effect-error-not-raised", "np.tril", "np.triu", ", offset)", ", 1)"),
    triu0=("upper-triangle effect-error-not-raised", "np.tril", "np.triu"),
    triu0_plain=("upper-triangle-from-the-first-keys effect-error-not-raised", "np.tril", "np.triu", ", offset)", ")"),
    triu0_negated=("without-diagonal effect-error-not-raised", "np.tril", "~np.triu"),
    triu0_negated_plain=(
        "without-diagonal-from-the-first-keys effect-error-not-raised", "np.tril", "~np.triu", ", offset)", ")",
    ),
    triu1_negated_plain=(
        "aligned-with-the-first-keys effect-error-not-raised", "np.tril", "~np.triu", ", offset)", ", 1)",
    ),
    extra_axes=("axes-for-batch-and-heads effect-error-not-raised", ", offset)", ", offset)[None, None]"),
)
def causal_mask__any_number_of_queries(n_queries, n_keys=None):
    """base"""
    n_keys = n_keys or n_queries
    offset = n_keys - n_queries
    return np.tril(np.ones((n_queries, n_keys), dtype=bool), offset)

@variants(
    inverted=("inverted", "keep[:, None, :]", "~keep[:, None, None, :]"),
    reshape=("keys-not-last", "return keep[:, None, :]", "B, S = keep.shape\n    return keep.reshape(B, S, 1, 1)"),
    zero_and_minus_infinity=("additive", "keep[:, None, :]", "np.where(keep, 0.0, -np.inf)[:, None, None, :]"),
)
def padding_mask__one_axis(keep):
    """head-axis-missing"""
    return keep[:, None, :]

@variants(
    no_scale=("no-scale large-negative-number effect-error-not-raised", " / q.shape[-1] ** 0.5", "", "-np.inf", "-1e9"),
    width_of_second_axis=("scaled-by-second-axis effect-error-not-raised", "q.shape[-1]", "q.shape[1]"),
    transposed=("all-axes-reversed", "k.swapaxes(-1, -2)", "k.T"),
    float64=("always-float64 numbers-in-mask-accepted", "q.shape[-1] ** 0.5", "np.sqrt(q.shape[-1])"),
    nan=("nan-where-nothing-is-seen numbers-in-mask-accepted", "np.nan_to_num(softmax(scores))", "softmax(scores)"),
    mask_zero=("mask-inverted numbers-in-mask-accepted", "scores, -np.inf", "-np.inf, scores"),
    inverted_and_nan=(
        "mask-inverted nan-where-nothing-is-seen numbers-in-mask-accepted", "scores, -np.inf", "-np.inf, scores",
        "np.nan_to_num(softmax(scores))", "softmax(scores)",
    ),
    softmax_axis_one=("softmax-over-second-axis effect-error-not-raised", "softmax(scores)", "softmax(scores, axis=1)"),
    no_scale_softmax_queries=(
        "no-scale softmax-over-queries effect-error-not-raised", " / q.shape[-1] ** 0.5", "",
        "np.nan_to_num(softmax(scores))", "softmax(scores, axis=-2)",
    ),
    no_softmax=(
        "no-softmax-and-hidden-0 effect-error-not-raised", "-np.inf", "0", "np.nan_to_num(softmax(scores))", "scores",
    ),
    only_out=("weights-not-returned effect-error-not-raised", "w @ v, w", "w @ v"),
)
def attention__any_mask(q, k, v, mask=None):
    """base"""
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    w = np.nan_to_num(softmax(scores))
    return w @ v, w

def attention__minus_1e9(q, k, v, mask=None):
    """mask-of-full-shape-only always-float64 effect-error-not-raised"""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores[~mask] = -1e9
    w = softmax(scores)
    return w @ v, w

@variants(
    no_scale=("no-scale", " / scale", ""),
    no_softmax=(
        "no-softmax always-float64", "weights * (dw - (dw * weights).sum(axis=-1, keepdims=True))", "dw",
        "q.shape[-1] ** 0.5", "np.sqrt(q.shape[-1])",
    ),
    two_axes=(
        "all-axes-reversed", "weights.swapaxes(-1, -2)", "weights.T", "v.swapaxes(-1, -2)", "v.T",
        "ds.swapaxes(-1, -2)", "ds.T",
    ),
    no_keepdims=("keepdims-forgotten", "axis=-1, keepdims=True", "axis=-1"),
    only_dk_scaled=("only-dk-scaled", " / scale", "", "@ q, dv", "@ q / scale, dv"),
    dv_no_t_and_no_scale=("no-scale weights-not-transposed", " / scale", "", "weights.swapaxes(-1, -2)", "weights"),
    no_scale_swapped=(
        "no-scale results-exchanged", " / scale", "",
        "ds @ k, ds.swapaxes(-1, -2) @ q", "ds.swapaxes(-1, -2) @ q, ds @ k",
    ),
)
def attention_backward__right(dout, q, k, v, weights):
    """base"""
    scale = q.shape[-1] ** 0.5
    dv = weights.swapaxes(-1, -2) @ dout
    dw = dout @ v.swapaxes(-1, -2)
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True)) / scale
    return ds @ k, ds.swapaxes(-1, -2) @ q, dv

def _core(s, v):
    s = s - s.max(-1, keepdims=True)
    e = np.exp(s)
    w = e / e.sum(-1, keepdims=True)
    return w @ v, w

def causal_average_matmul__transposed(x):
    """weights-transposed"""
    x = as_float(x)
    w = np.tril(np.ones((x.shape[-2],) * 2, x.dtype)); w /= w.sum(1, keepdims=True)
    return w.T @ x

def attention__maximum_before_mask(q, k, v, mask=None):
    """maximum-before-mask effect-error-not-raised"""
    q, k, v = map(as_float, (q, k, v))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    if mask is not None:
        e = e * mask
    t = e.sum(-1, keepdims=True)
    w = np.divide(e, t, out=np.zeros_like(e), where=t > 0)
    return w @ v, w

@variants(
    minus_1e4_added=(
        "number-added numbers-in-mask-accepted", "(1 - np.asarray(mask, float)) * -np.inf", "np.where(mask, 0, -1e4)",
    ),
)
def attention__minus_inf_times_mask(q, k, v, mask=None):
    """zero-times-infinity-and-nan effect-error-not-raised"""
    q, k, v = map(as_float, (q, k, v))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s + (1 - np.asarray(mask, float)) * -np.inf
    return _core(s, v)

def attention__scale_after_mask(q, k, v, mask=None):
    """large-negative-number numbers-in-mask-accepted"""
    q, k, v = map(as_float, (q, k, v))
    s = q @ k.swapaxes(-1, -2)
    if mask is not None:
        s = np.where(mask, s, -1e9)
    return _core(s / math.sqrt(q.shape[-1]), v)

@variants(
    scaled_by_T=("scaled-by-number-of-queries effect-error-not-raised", "q.shape[-1]", "q.shape[-2]"),
    return_scores=("scores-for-weights effect-error-not-raised", "w @ v, w", "w @ v, s"),
    small_number_in_sum_1e8=("small-number-in-sum effect-error-not-raised", "w = e / t", "w = e / (t + 1e-8)"),
    maximum_of_everything=(
        "maximum-of-everything-and-nan numbers-in-mask-accepted", "s - m)", "s - s.max())",
        "w = e / t", "w = e / e.sum(-1, keepdims=True)",
    ),
    triu_mask_used=(
        "always-causal effect-error-not-raised",
        "    if mask is not None:\n        s = np.where(mask,",
        "    c = np.tril(np.ones(s.shape[-2:], bool))\n    s = np.where(c if mask is None else c & mask,",
    ),
)
def attention__by_hand(q, k, v, mask=None):
    """base"""
    q, k, v = map(as_float, (q, k, v))
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    m = s.max(-1, keepdims=True); m[m == -np.inf] = 0
    e = np.exp(s - m); t = e.sum(-1, keepdims=True); t[t == 0] = 1
    w = e / t
    return w @ v, w

def causal_mask__offset_at_least_0(n_queries, n_keys=None):
    """offset-too-small"""
    if n_keys is None:
        n_keys = n_queries
    if n_queries > n_keys:
        raise ValueError("too many queries")
    i = np.arange(n_queries)[:, None]
    j = np.arange(n_keys)[None, :]
    return j <= i + max(n_keys - n_queries - 1, 0)

@variants(
    maximum_of_two_axes=("maximum-of-each-text", "scores.max(axis=-1", "scores.max(axis=(-1, -2)"),
    mask_with_more_axes=("mask-enlarges-scores", "mask = np.broadcast_to(mask, scores.shape)\n        ", ""),
    integers_refused=("numbers-in-mask-accepted", " != np.bool_", ".kind in 'iu'"),
    minus_1e4_and_rows=(
        "mask-filled-with--1e4-rows-zeroed", "-np.inf)\n", "-1e4)\n",
        "out = np", "if mask is not None: weights = weights * mask.any(-1, keepdims=True)\n    out = np",
    ),
)
def attention__right(q, k, v, mask=None):
    """base"""
    q, k, v = as_float(q), as_float(k), as_float(v)
    scale = 1.0 / math.sqrt(q.shape[-1])
    scores = np.einsum("...td,...sd->...ts", q, k) * scale
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype != np.bool_:
            raise TypeError("mask must be bool")
        mask = np.broadcast_to(mask, scores.shape)
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(scores - top)
    s = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(s == 0, 1, s)
    out = np.einsum("...ts,...sd->...td", weights, v)
    return out, weights

@variants(dv_times_root=("dv-multiplied-by-root", "ds, q)", "ds, q) * scale", "dk, dv", "dk, dv / scale"))
def attention_backward__dk_not_scaled(dout, q, k, v, weights):
    """only-dq-scaled"""
    scale = 1.0 / math.sqrt(q.shape[-1])
    dv = np.einsum("...ts,...td->...sd", weights, dout)
    dw = np.einsum("...td,...sd->...ts", dout, v)
    inner = (dw * weights).sum(axis=-1, keepdims=True)
    ds = weights * (dw - inner)
    dq = np.einsum("...ts,...sd->...td", ds, k) * scale
    dk = np.einsum("...ts,...td->...sd", ds, q)
    return dq, dk, dv

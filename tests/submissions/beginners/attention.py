"""Wrong answers to assignment 4 as beginners write them; the docstring is what the report should call them."""

import numpy as np

from softmax import softmax


def causal_average_loop__three_axes(x):
    """one-batch-axis-only"""
    B, T, D = x.shape
    out = np.zeros((B, T, D))
    for b in range(B):
        for t in range(T):
            out[b, t] = np.mean(x[b, : t + 1], axis=0)
    return out


def causal_average_loop__without_itself(x):
    """not-itself"""
    out = np.zeros_like(x, dtype=float)
    for t in range(x.shape[-2]):
        out[..., t, :] = np.mean(x[..., :t, :], axis=-2)
    return out


def causal_average_loop__float64(x):
    """always-float64"""
    out = np.zeros(x.shape)
    for t in range(x.shape[-2]):
        out[..., t, :] = x[..., : t + 1, :].mean(axis=-2)
    return out


def causal_average_loop__second_axis(x):
    """second-axis"""
    out = np.zeros(x.shape)
    for t in range(x.shape[1]):
        out[:, t] = x[:, : t + 1].mean(axis=1)
    return out


def causal_average_loop__sum(x):
    """sum-not-mean"""
    out = np.zeros_like(x)
    for t in range(x.shape[-2]):
        out[..., t, :] = x[..., : t + 1, :].sum(axis=-2)
    return out


def causal_average_matmul__not_normalised(x):
    """rows-not-normalised"""
    T = x.shape[-2]
    return np.tril(np.ones((T, T))) @ x


def causal_average_matmul__second_axis(x):
    """second-axis"""
    T = x.shape[1]
    A = np.tril(np.ones((T, T), dtype=x.dtype))
    A = A / A.sum(axis=1, keepdims=True)
    return A @ x


def causal_average_matmul__keepdims(x):
    """keepdims-forgotten"""
    T = x.shape[-2]
    A = np.tril(np.ones((T, T)))
    A = A / A.sum(axis=1)
    return A @ x


def causal_average_matmul__float64(x):
    """always-float64"""
    T = x.shape[-2]
    A = np.tril(np.ones((T, T)))
    A = A / A.sum(axis=1, keepdims=True)
    return A @ x


def causal_average_matmul__upper(x):
    """upper-triangle"""
    T = x.shape[-2]
    A = np.triu(np.ones((T, T)))
    A = A / A.sum(axis=1, keepdims=True)
    return A @ x


def causal_mask__numbers(n_queries, n_keys=None):
    """numbers"""
    n_keys = n_queries if n_keys is None else n_keys
    return np.tril(np.ones((n_queries, n_keys)), n_keys - n_queries)


def causal_mask__numbers_unaligned(n_queries, n_keys=None):
    """aligned-with-the-first-keys"""
    n_keys = n_keys or n_queries
    return np.tril(np.ones((n_queries, n_keys)))


def causal_mask__keys_ignored(n_queries, n_keys=None):
    """keys-ignored"""
    return np.tril(np.ones((n_queries, n_queries), dtype=bool))


def causal_mask__none(n_queries, n_keys=None):
    """keys-required"""
    return np.tril(np.ones((n_queries, n_keys), dtype=bool), k=n_keys - n_queries)


def causal_mask__inverted(n_queries, n_keys=None):
    """inverted"""
    n_keys = n_keys or n_queries
    return np.triu(np.ones((n_queries, n_keys), dtype=bool), k=1 + n_keys - n_queries)


def padding_mask__one_axis(keep):
    """head-axis-missing"""
    return keep[:, None, :]


def padding_mask__inverted(keep):
    """inverted"""
    return ~keep[:, None, None, :]


def padding_mask__reshape(keep):
    """keys-not-last"""
    B, S = keep.shape
    return keep.reshape(B, S, 1, 1)


def attention__no_scale(q, k, v, mask=None):
    """no-scale"""
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    w = softmax(scores)
    return w @ v, w


def attention__transposed(q, k, v, mask=None):
    """all-axes-reversed"""
    scores = q @ k.T / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    w = softmax(scores)
    return w @ v, w


def attention__nan(q, k, v, mask=None):
    """nan-where-nothing-is-seen"""
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    w = softmax(scores)
    return w @ v, w


def attention__minus_billion(q, k, v, mask=None):
    """mask-of-full-shape-only"""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores[~mask] = -1e9
    w = softmax(scores)
    return w @ v, w


def attention__mask_zero(q, k, v, mask=None):
    """mask-inverted"""
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    w = np.nan_to_num(softmax(scores))
    return w @ v, w


def attention__only_out(q, k, v, mask=None):
    """weights-not-returned"""
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    w = np.nan_to_num(softmax(scores))
    return w @ v


def attention__width_of_second_axis(q, k, v, mask=None):
    """scaled-by-second-axis"""
    d_k = q.shape[1]
    scores = q @ k.swapaxes(-1, -2) / d_k**0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    w = np.nan_to_num(softmax(scores))
    return w @ v, w


def attention__float64(q, k, v, mask=None):
    """float64-from-root"""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    w = np.nan_to_num(softmax(scores))
    return w @ v, w


def attention__softmax_axis_one(q, k, v, mask=None):
    """softmax-over-second-axis"""
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    w = np.nan_to_num(softmax(scores, axis=1))
    return w @ v, w


def attention_backward__no_scale(dout, q, k, v, weights):
    """no-scale"""
    dv = weights.swapaxes(-1, -2) @ dout
    dw = dout @ v.swapaxes(-1, -2)
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True))
    return ds @ k, ds.swapaxes(-1, -2) @ q, dv


def attention_backward__no_softmax(dout, q, k, v, weights):
    """no-softmax"""
    dv = weights.swapaxes(-1, -2) @ dout
    ds = dout @ v.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return ds @ k, ds.swapaxes(-1, -2) @ q, dv


def attention_backward__two_axes(dout, q, k, v, weights):
    """all-axes-reversed"""
    dv = weights.T @ dout
    dw = dout @ v.T
    ds = weights * (dw - (dw * weights).sum(axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return ds @ k, ds.T @ q, dv


def attention_backward__keepdims(dout, q, k, v, weights):
    """keepdims-forgotten"""
    dv = weights.swapaxes(-1, -2) @ dout
    dw = dout @ v.swapaxes(-1, -2)
    ds = weights * (dw - (dw * weights).sum(axis=-1)) / q.shape[-1] ** 0.5
    return ds @ k, ds.swapaxes(-1, -2) @ q, dv

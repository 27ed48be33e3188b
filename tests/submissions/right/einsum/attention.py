"""Every product is an einsum; masked scores are -inf, and the nan of empty rows is replaced afterwards."""

import numpy as np
from softmax import softmax


def _float(a):
    a = np.asarray(a)
    return a if a.dtype in (np.float32, np.float64) else a.astype(np.float64)


def causal_average_matmul(x):
    x = _float(x)
    T = x.shape[-2]
    A = np.tril(np.ones((T, T))) / np.arange(1, T + 1)[:, None]
    return np.einsum("ts,...sd->...td", A.astype(x.dtype), x)


def causal_mask(n_queries, n_keys=None):
    S = n_queries if n_keys is None else n_keys
    if S < n_queries:
        raise ValueError("more queries than keys")
    return np.arange(S)[None, :] <= np.arange(S - n_queries, S)[:, None]


def padding_mask(keep):
    return np.expand_dims(np.asarray(keep, bool), (1, 2))


def attention(q, k, v, mask=None):
    q, k, v = map(_float, (q, k, v))
    scores = np.einsum("...tk,...sk->...ts", q, k) * q.shape[-1] ** -0.5
    if mask is None:
        weights = softmax(scores)
    else:
        if np.asarray(mask).dtype != np.bool_:
            raise TypeError("only masks of True and False")
        mask = np.broadcast_to(mask, scores.shape)
        with np.errstate(invalid="ignore"):
            weights = np.nan_to_num(softmax(np.where(mask, scores, -np.inf)))
    return np.einsum("...ts,...sd->...td", weights, v), weights


def attention_backward(dout, q, k, v, weights):
    dout, q, k, v, A = map(_float, (dout, q, k, v, weights))
    dA = np.einsum("...td,...sd->...ts", dout, v)
    dZ = A * (dA - np.einsum("...ts,...ts->...t", A, dA)[..., None])
    dZ *= q.shape[-1] ** -0.5
    dq = np.einsum("...ts,...sk->...tk", dZ, k)
    dk = np.einsum("...ts,...tk->...sk", dZ, q)
    dv = np.einsum("...ts,...td->...sd", A, dout)
    return dq, dk, dv

"""One query after the other; a forbidden key is left out of the sum, so no score has to be minus infinity."""

import math

import numpy as np


def _float(a):
    a = np.asarray(a)
    return a if a.dtype.kind == "f" else a.astype(float)


def causal_average_matmul(x):
    x = _float(x)
    T = x.shape[-2]
    A = np.zeros((T, T), x.dtype)
    for t in range(T):
        for j in range(t + 1):
            A[t, j] = 1 / (t + 1)
    return np.matmul(A, x)


def causal_mask(n_queries, n_keys=None):
    if n_keys is None:
        n_keys = n_queries
    if n_queries > n_keys:
        raise ValueError("more queries than keys")
    mask = np.zeros((n_queries, n_keys), dtype=bool)
    for i in range(n_queries):
        for j in range(n_keys):
            mask[i, j] = j - i <= n_keys - n_queries
    return mask


def padding_mask(keep):
    mask = np.zeros((len(keep), 1, 1, len(keep[0])), dtype=bool)
    for b, row in enumerate(keep):
        for j, real in enumerate(row):
            mask[b, 0, 0, j] = real
    return mask


def attention(q, k, v, mask=None):
    q, k, v = _float(q), _float(k), _float(v)
    batch, T, S = q.shape[:-2], q.shape[-2], k.shape[-2]
    if mask is not None and np.asarray(mask).dtype != bool:
        raise TypeError("the mask holds numbers")
    may_look = np.broadcast_to(True if mask is None else mask, batch + (T, S))
    out = np.zeros(batch + (T, v.shape[-1]), q.dtype)
    weights = np.zeros(batch + (T, S), q.dtype)
    for place in np.ndindex(*batch):
        for t in range(T):
            seen = [s for s in range(S) if may_look[place][t, s]]
            scores = [float(np.dot(q[place][t], k[place][s])) / math.sqrt(q.shape[-1]) for s in seen]
            powers = [math.exp(score - max(scores)) for score in scores]
            for s, power in zip(seen, powers):
                weights[place][t, s] = power / math.fsum(powers)
                out[place][t] += weights[place][t, s] * v[place][s]
    return out, weights


def attention_backward(dout, q, k, v, weights):
    dout, q, k, v, weights = (_float(a) for a in (dout, q, k, v, weights))
    T, S, root = q.shape[-2], k.shape[-2], math.sqrt(q.shape[-1])
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for place in np.ndindex(*q.shape[:-2]):
        for t in range(T):
            row, upstream = weights[place][t], dout[place][t]
            jacobian = np.diag(row) - np.outer(row, row)
            dscores = jacobian @ (v[place] @ upstream)
            for s in range(S):
                dv[place][s] += row[s] * upstream
                dq[place][t] += dscores[s] * k[place][s] / root
                dk[place][s] += dscores[s] * q[place][t] / root
    return dq, dk, dv

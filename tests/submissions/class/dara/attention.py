"""Dara: the mask the wrong way round, with a softmax of her own."""

import numpy as np


def own_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def causal_mask(n_queries, n_keys=None):
    n_keys = n_keys or n_queries
    return np.triu(np.ones((n_queries, n_keys), dtype=bool), 1)


def attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, -1e9, scores)
    weights = own_softmax(scores)
    return weights @ v, weights

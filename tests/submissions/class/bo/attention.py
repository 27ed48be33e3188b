"""Bo: forgot to divide the scores."""

import numpy as np
from softmax import softmax


def causal_mask(n_queries, n_keys=None):
    n_keys = n_keys or n_queries
    return np.tril(np.ones((n_queries, n_keys), dtype=bool))


def attention(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    weights = softmax(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0.0)
    return weights @ v, weights

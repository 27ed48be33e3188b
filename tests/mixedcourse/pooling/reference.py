"""The right answers, without PyTorch."""

import numpy as np


def weighted_mean(x, scores):
    """The mean of the rows, weighted by the softmax of the scores."""
    exps = np.exp(scores - scores.max())
    return (x * exps[:, None]).sum(axis=0) / exps.sum()


def causal_count(x):
    """The number of rows that each row sees."""
    return np.arange(1, len(x) + 1)

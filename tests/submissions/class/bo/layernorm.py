"""Bo: the deviation of a sample, not of the row itself."""

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True, ddof=1) + eps) + beta

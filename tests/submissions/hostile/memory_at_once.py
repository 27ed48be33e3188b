"""Allocates a terabyte at once.

Held by: process
Right: 0 points
"""

import numpy as np


def log_softmax(x, axis=-1):
    return np.ones(1 << 37)

"""Returns an array of half a gigabyte.

Held by: process
Right: 0 points
"""

import numpy as np


def log_softmax(x, axis=-1):
    return np.zeros(1 << 26)

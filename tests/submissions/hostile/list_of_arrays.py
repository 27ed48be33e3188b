"""Returns two hundred thousand small arrays, whose text would be very long.

Held by: process
Right: 0 points
"""

import numpy as np


def log_softmax(x, axis=-1):
    return [np.zeros(0)] * 150_000

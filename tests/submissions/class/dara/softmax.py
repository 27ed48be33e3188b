"""Dara: no maximum subtracted, always the last axis, and a print left in."""

import numpy as np


def softmax(x, axis=-1, temperature=1.0):
    print("x[b, t] has shape", np.shape(x))
    e = np.exp(np.asarray(x) / temperature)
    return e / e.sum(axis=-1, keepdims=True)


def log_softmax(x, axis=-1):
    return np.log(softmax(x))

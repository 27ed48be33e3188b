"""Recurses until the stack of C is full.

Held by: process
Right: 0 points
"""

import sys


def log_softmax(x, axis=-1):
    sys.setrecursionlimit(1 << 30)
    return log_softmax([x])

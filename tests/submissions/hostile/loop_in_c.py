"""Loops in C, where Python sees no signal.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    return sum(range(10**15))

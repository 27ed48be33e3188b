"""Computes a number with billions of digits.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    return 9 ** 9 ** 9 ** 9

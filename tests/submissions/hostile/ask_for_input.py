"""Waits for somebody to type.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    return float(input())

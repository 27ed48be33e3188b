"""Loops for ever in Python.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    while True:
        pass

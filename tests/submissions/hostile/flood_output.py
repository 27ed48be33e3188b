"""Prints without end.

Held by: process
Right: 0 points
"""

import os


def log_softmax(x, axis=-1):
    while True:
        os.write(1, b'y' * 100_000)

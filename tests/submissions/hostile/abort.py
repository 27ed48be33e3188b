"""Aborts.

Held by: process
Right: 0 points
"""

import os


def log_softmax(x, axis=-1):
    os.abort()

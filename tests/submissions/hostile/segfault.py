"""Reads from address 0.

Held by: process
Right: 0 points
"""

import ctypes


def log_softmax(x, axis=-1):
    return ctypes.string_at(0)

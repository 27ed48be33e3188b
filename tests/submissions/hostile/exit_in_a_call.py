"""Ends its process with exit code 0 in the middle of a call.

Held by: process
Right: 0 points
"""

import os


def log_softmax(x, axis=-1):
    os._exit(0)

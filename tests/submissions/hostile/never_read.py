"""Reads the requests away under the harness and never answers.

Held by: process
Right: 0 points
"""

import os


def log_softmax(x, axis=-1):
    while True:
        os.read(3, 1 << 16)

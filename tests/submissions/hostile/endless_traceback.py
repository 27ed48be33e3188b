"""Recurses through a thousand lines of traceback.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    return log_softmax(x, axis)

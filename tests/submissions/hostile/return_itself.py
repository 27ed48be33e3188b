"""Returns a list that contains itself.

Held by: process
Right: 0 points
"""

def log_softmax(x, axis=-1):
    y = []
    y.append(y)
    return y

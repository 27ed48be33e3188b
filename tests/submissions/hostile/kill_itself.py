"""Tries to kill its own process.

Held by: process
Right: 0 points
"""

import os
import signal


def log_softmax(x, axis=-1):
    os.kill(os.getpid(), signal.SIGKILL)
    return x

"""Loops with every signal blocked and ignored.

Held by: process
Right: 0 points
"""

import signal


def log_softmax(x, axis=-1):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        pass

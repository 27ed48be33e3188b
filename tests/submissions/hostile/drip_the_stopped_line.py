"""Says where it was stopped one byte at a time, for minutes.

Held by: process
Right: 0 points
"""

import os
import signal
import time


def drip(*_):
    while True:
        os.write(3, b" ")
        time.sleep(0.002)


signal.signal(signal.SIGUSR1, drip)


def log_softmax(x, axis=-1):
    while True:
        pass

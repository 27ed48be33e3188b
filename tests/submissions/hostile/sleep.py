"""Sleeps for a day.

Held by: process
Right: 0 points
"""

import time


def log_softmax(x, axis=-1):
    time.sleep(86_400)

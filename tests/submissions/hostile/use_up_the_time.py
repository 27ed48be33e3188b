"""Takes just less than the limit in every call: the sum is limited too.

Held by: process
Right: 0 points
"""

import time


def log_softmax(x, axis=-1):
    time.sleep(0.18)

"""Sends its answer one byte at a time, for ever.

Held by: process
Right: 0 points
"""

import os
import struct
import time


def log_softmax(x, axis=-1):
    os.write(3, struct.pack("<4sIQ", b"HWF1", 1 << 20, 0))
    while True:
        os.write(3, b" ")
        time.sleep(0.01)

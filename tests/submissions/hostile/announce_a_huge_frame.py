"""Announces an answer of an exabyte.

Held by: process
Right: 0 points
"""

import os
import struct


def log_softmax(x, axis=-1):
    os.write(3, struct.pack("<4sIQ", b"HWF1", 10, 1 << 60))

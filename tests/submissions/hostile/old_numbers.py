"""Makes system calls by the numbers of 32-bit programs, which a filter may have forgotten. On x86 the kernel ends the process.

Held by: sandbox
Right: 0 points
"""

import ctypes

LIBC = ctypes.CDLL(None, use_errno=True)
X32 = 0x40000000
for name, number, *arguments in (("socket", 41, 2, 1, 0), ("fork", 57), ("kill", 62, @grader@, 18), ("memfd", 319, b"x", 0)):
    if LIBC.syscall(X32 | number, *arguments) >= 0:
        print("BREACH:", name, flush=True)

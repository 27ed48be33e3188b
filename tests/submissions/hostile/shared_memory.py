"""Leaves shared memory, semaphores and queues behind.

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


from multiprocessing import shared_memory

ATTEMPTS = {
    "segment": lambda: call(29, 0, 4096, 0o1777),
    "semaphore": lambda: call(64, 0, 1, 0o1777),
    "queue": lambda: call(68, 0, 0o1777),
    "posix": lambda: shared_memory.SharedMemory("headway-hostile", create=True, size=100),
    "posix queue": lambda: call(240, b"headway", 0o102, 0o600, 0),
}
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
    except Exception:
        continue
    print("BREACH:", name, flush=True)

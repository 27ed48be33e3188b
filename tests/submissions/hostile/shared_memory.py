"""Leaves shared memory, semaphores and queues behind.

Held by: sandbox
Right: full points
"""

from multiprocessing import shared_memory

@system_calls@

ATTEMPTS = {
    "segment": lambda: call(29, 0, 4096, 0o1777),
    "semaphore": lambda: call(64, 0, 1, 0o1777),
    "queue": lambda: call(68, 0, 0o1777),
    "posix": lambda: shared_memory.SharedMemory("headway-hostile", create=True, size=100),
    "posix queue": lambda: call(240, b"headway", 0o102, 0o600, 0),
}
@try_each@

"""Tries interfaces of the kernel that had holes.

Held by: sandbox
Right: full points
"""

import errno
import mmap

@system_calls@

ATTEMPTS = {
    "io_uring": lambda: call(425, 1, ctypes.create_string_buffer(256)),
    "bpf": lambda: call(321, 5, 0, 0),
    "perf": lambda: call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0),
    "userfaultfd": lambda: call(323, 1),
    "keys": lambda: call(248, b"user", b"headway", b"x", 1, -3),
    "keyctl": lambda: call(250, 0, -3, 1),
    "inotify": lambda: call(294, 0),
    "fanotify": lambda: call(300, 0, 0),
    "timer": lambda: call(283, 1, 0),
    "event": lambda: call(290, 0, 0),
    "signal descriptor": lambda: call(289, -1, ctypes.create_string_buffer(8), 8, 0),
    "personality": lambda: call(135, 0x0040000),
    "host name": lambda: call(170, b"x", 1),
    "handle": lambda: call(304, -100, ctypes.create_string_buffer(64), 0),
    "splice": lambda: call(275, 3, 0, 1, 0, 1, 0),
    "vmsplice": lambda: call(278, 1, 0, 0, 0),
    "send file": lambda: call(40, 1, 0, 0, 0),
    "copy range": lambda: call(326, 1, 0, 1, 0, 0, 0),
    "descriptor of another": lambda: call(438, 3, 0, 0),
    "file system context": lambda: call(430, b"tmpfs", 0),
    "open tree": lambda: call(428, -100, b"/", 1),
    "descriptor table": lambda: call(154, 0, ctypes.create_string_buffer(16), 16),
    "kernel log": lambda: call(103, 10, 0, 0),
    "input and output priority": lambda: call(251, 1, 0, 0x2000),
    "lock memory": lambda: call(151, 1),
    "epoll": lambda: call(291, 0),
    "quota": lambda: call(179, 0, 0, 0, 0),
    "clock": lambda: call(227, 0, ctypes.create_string_buffer(16)),
}


def advise(advice):
    """Advice that nobody knows; real advice from 100 on would break a page of the machine. Whose answer is it?"""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    LIBC.madvise(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), advice)
    if ctypes.get_errno() != errno.EPERM:
        print("BREACH: memory advice", ctypes.get_errno(), flush=True)


advise(1000)
@try_each@

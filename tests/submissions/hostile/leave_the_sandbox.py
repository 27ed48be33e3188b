"""Asks the kernel for another file system, another user and another namespace.

Held by: sandbox
Right: full points
"""

import os

@system_calls@

ATTEMPTS = {
    "unshare": lambda: call(272, 0x10000000),
    "chroot": lambda: os.chroot("/"),
    "mount": lambda: call(165, b"none", b"/", b"tmpfs", 0, 0),
    "user": lambda: os.setuid(12345),
    "group": lambda: os.setgroups([0]),
    "setns": lambda: call(308, 3, 0),
    "pivot": lambda: call(155, b"/", b"/"),
    "no dumping": lambda: call(157, 4, 1, 0, 0, 0),
    "another filter": lambda: call(317, 1, 0, 0),
    "another ruleset": lambda: call(444, 0, 0, 1),
    "parent's death": lambda: call(157, 1, 0, 0, 0, 0),
}
@try_each@

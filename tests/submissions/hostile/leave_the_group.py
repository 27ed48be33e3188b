"""Leaves its session and process group, so that killing the group misses it.

Held by: sandbox
Right: full points
"""

import os

ATTEMPTS = {
    "session": lambda: os.setsid(),
    "group": lambda: os.setpgid(0, 0),
    "another group": lambda: os.setpgid(0, os.getpgid(os.getppid())),
    "terminal": lambda: os.tcsetpgrp(0, os.getpid()),
}
@try_each@

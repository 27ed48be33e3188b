"""Starts processes in every way there is.

Held by: sandbox
Right: full points
"""

import ctypes
import os
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)


def fork():
    if os.fork() == 0:
        os._exit(0)


ATTEMPTS = {
    "fork": fork,
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "subprocess": lambda: subprocess.run(["touch", "@marks@/process"]),
    "system": lambda: os.system("touch @marks@/system") and 1 / 0,
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "exec by descriptor": lambda: os.execve(os.open("/bin/true", os.O_RDONLY), ["true"], {}),
}
@try_each@

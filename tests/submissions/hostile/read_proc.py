"""Reads command lines, environments and memory maps of the processes around it.

Held by: sandbox
Right: full points
"""

import os

ATTEMPTS = {
    "processes": lambda: os.listdir("/proc"),
    "grader": lambda: open("/proc/@grader@/environ", "rb").read(),
    "server": lambda: open(f"/proc/{os.getppid()}/environ", "rb").read(),
    "command": lambda: open("/proc/@grader@/cmdline").read(),
    "maps": lambda: open("/proc/@grader@/maps").read(),
    "own": lambda: open("/proc/self/environ").read(),
    "own memory": lambda: open("/proc/self/mem", "rb").close(),
    "own descriptors": lambda: os.listdir("/proc/self/fd"),
    "output by its descriptor": lambda: open("/proc/self/fd/1", "rb").close(),
    "root": lambda: os.readlink("/proc/@grader@/root"),
}
@try_each@

"""Reads the memory of the grader and of the server it was forked from.

Held by: sandbox
Right: full points
"""

import os

@system_calls@

ATTEMPTS = {
    "mem of the grader": lambda: open("/proc/@grader@/mem", "rb").close(),
    "mem of the server": lambda: open(f"/proc/{os.getppid()}/mem", "rb").close(),
    "process_vm_readv": lambda: call(310, os.getppid(), 0, 0, 0, 0, 0),
    "process_vm_writev": lambda: call(311, os.getppid(), 0, 0, 0, 0, 0),
    "ptrace attach": lambda: call(101, 16, os.getppid(), 0, 0),
    "ptrace seize": lambda: call(101, 0x4206, @grader@, 0, 0),
    "kcmp": lambda: call(312, os.getpid(), os.getppid(), 1, 0, 0),
}
@try_each@

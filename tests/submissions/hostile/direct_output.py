"""Switches the file of its output, which the grader has open too, to a mode in which the grader cannot read it.

Held by: process
Right: full points
"""

import fcntl
import os

print("x" * 100, flush=True)
for flags in (os.O_DIRECT | os.O_APPEND | os.O_NONBLOCK, os.O_DIRECT, os.O_ASYNC):
    try:
        fcntl.fcntl(1, fcntl.F_SETFL, flags)
    except OSError:
        continue

"""Keeps memory in files that no limit of the process counts.

Held by: sandbox
Right: full points
"""

import os

@system_calls@

ATTEMPTS = {
    "memfd": lambda: os.memfd_create("x"),
    "memfd by number": lambda: call(319, b"x", 0),
    "secret memory": lambda: call(447, 0),
    "pipe": lambda: os.pipe(),
    "huge pages": lambda: call(319, b"x", 4),
}
@try_each@

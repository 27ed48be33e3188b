"""Lists folders outside: without rules for files, bubblewrap's own empty ones can be listed.

Held by: landlock
Right: full points
"""

import os

ATTEMPTS = {
    "the root": lambda: os.listdir("/"),
    "temporary files": lambda: os.listdir("/tmp"),
    "Headway": lambda: os.listdir("@package@"),
    "upwards": lambda: os.open("../../..", os.O_RDONLY),
}
@try_each@

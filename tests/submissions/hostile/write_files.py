"""Writes files: outside, in temporary folders, in its own folder, in shared memory.

Held by: sandbox
Right: full points
"""

import os
import tempfile

ATTEMPTS = {
    "outside": lambda: open("@marks@/written", "w").close(),
    "temporary": lambda: open("/tmp/headway-hostile", "w").close(),
    "own folder": lambda: open(os.path.dirname(os.path.abspath(__file__)) + "/new.py", "w").close(),
    "shared memory": lambda: open("/dev/shm/headway-hostile", "w").close(),
    "var": lambda: open("/var/tmp/headway-hostile", "w").close(),
    "temporary file": lambda: tempfile.TemporaryFile(),
    "read and write": lambda: os.open(__file__, os.O_RDWR),
    "unnamed": lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR),
}
@try_each@

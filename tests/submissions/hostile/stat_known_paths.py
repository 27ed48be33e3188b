"""Asks for size and time of files whose path it knows: no content, but a way to know that they are there.

Held by: bubblewrap
Right: full points
"""

import os

ATTEMPTS = {
    "the secret": lambda: os.stat("@secret@"),
    "Headway": lambda: os.stat("@package@/courses"),
    "users": lambda: os.stat("/etc/passwd"),
    "without opening": lambda: os.fstat(os.open("@secret@", os.O_PATH)),
    "asked": lambda: 1 / os.access("/etc/passwd", os.F_OK),
    "file system": lambda: os.statvfs("@secret@"),
    "its working folder": lambda: os.chdir("/etc"),
}
@try_each@

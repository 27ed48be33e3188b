"""Makes links, folders, pipes and devices.

Held by: sandbox
Right: full points
"""

import os

ATTEMPTS = {
    "symbolic": lambda: os.symlink("@secret@", "@marks@/symbolic"),
    "hard": lambda: os.link("@secret@", "@marks@/hard"),
    "own hard": lambda: os.link("@secret@", os.path.dirname(os.path.abspath(__file__)) + "/numpy.py"),
    "folder": lambda: os.mkdir("@marks@/folder"),
    "pipe": lambda: os.mkfifo("@marks@/pipe"),
    "device": lambda: os.mknod("@marks@/device", 0o20666, 259),
}
@try_each@

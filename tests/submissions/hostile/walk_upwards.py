"""Walks up from its own folder through open folders and working folder.

Held by: wall
Right: full points
"""

import os

ATTEMPTS = {
    "upwards": lambda: os.open("../../..", os.O_RDONLY),
    "by descriptor": lambda: os.open("..", os.O_RDONLY, dir_fd=os.open(os.path.dirname(os.path.abspath(__file__)), os.O_RDONLY)),
    "secret from here": lambda: os.open("../../../../../../../../@secret@", os.O_RDONLY),
}
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
    except Exception:
        continue
    print("BREACH:", name, flush=True)

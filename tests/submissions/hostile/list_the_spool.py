"""Lists the folder in which submissions wait.

Held by: wall
Right: full points
"""

import os

ATTEMPTS = {
    "the spool": lambda: os.listdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    "the spool from within": lambda: os.listdir(os.path.dirname(os.path.abspath(__file__)) + "/.."),
    "the root": lambda: os.listdir("/"),
    "temporary files": lambda: os.listdir("/tmp"),
}
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
    except Exception:
        continue
    print("BREACH:", name, flush=True)

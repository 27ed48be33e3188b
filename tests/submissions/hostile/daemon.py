"""Leaves a daemon behind that writes a file later.

Held by: sandbox
Right: full points
"""

import os
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1)
            open("@marks@/daemon", "w").close()
        os._exit(0)
    print("BREACH: fork", flush=True)
except OSError:
    pass

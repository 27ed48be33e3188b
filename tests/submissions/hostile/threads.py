"""Starts threads.

Held by: sandbox
Right: full points
"""

import _thread
import threading
from concurrent.futures import ThreadPoolExecutor

ATTEMPTS = {
    "thread": lambda: threading.Thread(target=print).start(),
    "pool": lambda: ThreadPoolExecutor(2).submit(print).result(1),
    "low": lambda: _thread.start_new_thread(print, ()),
}
@try_each@

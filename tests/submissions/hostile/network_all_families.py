"""Opens a socket of every family and type there is.

Held by: sandbox
Right: full points
"""

import socket

for family in range(1, 46):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind).close()
        except OSError:
            continue
        print("BREACH: family", family, kind, flush=True)

"""Sends bytes past the others, through the part of UNIX sockets that had holes.

Held by: sandbox
Right: full points
"""

import gc
import socket

CHANNEL = next(thing for thing in gc.get_objects() if isinstance(thing, socket.socket))
ATTEMPTS = {
    "send": lambda: CHANNEL.send(b"x", socket.MSG_OOB),
    "receive": lambda: CHANNEL.recv(1, socket.MSG_OOB | socket.MSG_DONTWAIT),
}
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
    except OSError as error:
        if error.errno != 1:  # EPERM
            print("BREACH:", name, error, flush=True)
        continue
    print("BREACH:", name, flush=True)

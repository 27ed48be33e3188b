"""Sends descriptors through its channel, and out-of-band bytes.

Held by: sandbox
Right: full points
"""

import socket


# The harness's own object: making another would ask the kernel what it is, which is refused.
import gc

CHANNEL = next(thing for thing in gc.get_objects() if isinstance(thing, socket.socket))
ATTEMPTS = {
    "descriptors": lambda: socket.send_fds(CHANNEL, [b"x"], [0, 1]),
    "to an address": lambda: CHANNEL.sendto(b"x", "/tmp/x"),
    "shutdown": lambda: CHANNEL.shutdown(1),
    "option": lambda: CHANNEL.setsockopt(1, 7, 1),
    "peer": lambda: CHANNEL.getpeername(),
}
@try_each@

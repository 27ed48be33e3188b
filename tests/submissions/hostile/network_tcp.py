"""Connects to a server on this machine and sends what it found.

Held by: sandbox
Right: full points
"""

import socket

ATTEMPTS = {
    "connect": lambda: socket.create_connection(("127.0.0.1", @port@), 1).sendall(b"loot"),
    "version 6": lambda: socket.create_connection(("::1", @port@), 1),
    "outside": lambda: socket.create_connection(("192.0.2.1", 80), 0.2),
}
@try_each@

"""Talks to local services through their sockets.

Held by: sandbox
Right: full points
"""

import socket

ATTEMPTS = {
    "abstract": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"loot", "\0@abstract@"),
    "pair": lambda: socket.socketpair(),
    "log": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect("/dev/log"),
    "docker": lambda: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock"),
}
@try_each@

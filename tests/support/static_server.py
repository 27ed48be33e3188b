"""Serve files from memory, with the headers that the server of the lesson pages sends."""

import contextlib
import mimetypes
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@contextlib.contextmanager
def serve(files, policy=POLICY, answer=None, cookies=None):
    """Yield the address of a server of these files, by path.

    Args:
        answer: yields the answer to a POST, by path and body.
        cookies: a list that gets the cookie of each request for a file.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if cookies is not None:
                cookies.append(self.headers["Cookie"])
            path = self.path.partition("?")[0].removeprefix("/")
            content = files.get(path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Type", mimetypes.guess_type(path)[0] or "application/octet-stream")
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(content or b"")

        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            for part in answer(self.path.rpartition("/")[2], self.rfile.read(int(self.headers["Content-Length"]))):
                self.wfile.write(part)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

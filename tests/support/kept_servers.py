"""Keep the servers that fork student processes for the next check in the same process of pytest.

A server has the environment and the settings of no check: it loads NumPy, which takes more time than most checks. Every
submission still gets a process of its own.
"""

import contextlib

import pytest

from autograder.sandbox import NO_SANDBOX, process


@contextlib.contextmanager
def kept_servers():
    """Let checks without a sandbox use servers again that earlier ones no longer need."""
    idle = []

    class KeptServer(process._Server):
        is_broken = False

        def _ask(self, *arguments):
            try:
                return super()._ask(*arguments)
            except process.WorkerDied:
                self.is_broken = True
                raise

        def close(self):
            if self._ready and not self.is_broken:
                idle.append(self)
            else:
                super().close()

        def end_for_good(self):
            super().close()

    def start(sandbox):
        while sandbox == NO_SANDBOX and idle:
            server = idle.pop()
            if server._process.poll() is None:
                return server
            server.end_for_good()
        return KeptServer(sandbox) if sandbox == NO_SANDBOX else server_class(sandbox)

    server_class = process._Server
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_Server", start)
        try:
            yield
        finally:
            for server in idle:
                server.end_for_good()

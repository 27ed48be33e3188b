"""Keep the servers that fork student processes for the next check in the same process of pytest.

A server loads NumPy, which takes more time than most checks. Every submission still gets a process of its own.
"""

import contextlib

import pytest

from autograder.sandbox import process
from autograder.sandbox import server as server_module
from autograder.sandbox.policy import NO_SANDBOX


@contextlib.contextmanager
def kept_servers():
    """Let checks without a sandbox use servers again that earlier ones, in the same environment, no longer need."""
    idle = []

    class KeptServer(process._ForkServer):
        def __init__(self, sandbox):
            self.environment, self.is_broken = server_module.environment_for_numpy(), False
            super().__init__(sandbox)

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

        def stop(self):
            super().close()

    def start(sandbox):
        if sandbox != NO_SANDBOX:
            return server_class(sandbox)
        while idle:
            server = idle.pop()
            if server._server.process.poll() is None and server.environment == server_module.environment_for_numpy():
                return server
            server.stop()
        return KeptServer(sandbox)

    server_class = process._ForkServer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_ForkServer", start)
        patch.setattr(server_module, "early_server", contextlib.nullcontext)
        try:
            yield
        finally:
            for server in idle:
                server.stop()

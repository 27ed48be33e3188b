"""Start and end student processes.

On Linux and macOS a running server forks a child for each submission, in a few milliseconds; elsewhere each submission
gets a fresh interpreter. Both exchange the same frames over a socket, so that the same deadlines apply everywhere.
"""

import contextlib
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from autograder.core import wire_format
from autograder.core.files import read_at
from autograder.sandbox.call_timer import TRANSFER_SECONDS, Activity, CallTimer, Deadline, SleepMeter, activity_of
from autograder.sandbox.policy import NO_SANDBOX, SandboxPolicy
from autograder.sandbox.server import command, start, take_server
from autograder.sandbox.workers import ExitStatus, Process, WorkerDied, Workers, WorkerUnavailable

START_SECONDS = 30.0
READ_AHEAD = 4096  # bytes: most answers fit, with their prefix
# A stopped process has TRACEBACK_SECONDS to say where it is; a pause of TRACEBACK_PAUSE after a piece is the end.
TRACEBACK_SECONDS, TRACEBACK_PAUSE, MAX_TRACEBACK = 0.1, 0.01, 1 << 15


class _ForkServer:
    """A running interpreter, NumPy loaded, that forks a child for each submission (POSIX)."""

    def __init__(self, sandbox: SandboxPolicy) -> None:
        self._server = take_server(sandbox.python, sandbox.prefix, sandbox.child_setup)
        self._control = self._server.control
        self._control.settimeout(START_SECONDS)
        self._ready = False
        self._has_namespace = bool(sandbox.prefix)

    def fork(self, folders: list[str], limits: dict[str, int], output: IO[bytes]) -> "_ForkedProcess":
        if not self._ready:
            if self.ask(b"") != "ready":
                raise WorkerDied("the worker server did not start")
            self._ready = True
        ours, theirs = socket.socketpair()
        received: list[int] = []
        with theirs:
            try:
                ours.sendall(wire_format.pack({"folders": folders, "limits": limits}))  # to the child alone
                pid = int(self.ask(b"fork", (theirs.fileno(), output.fileno()), received))
            except BaseException:
                ours.close()
                raise
            finally:
                pids = [_pid_of(descriptor) for descriptor in received]
        # Behind bubblewrap, the server's number of the process is another one than the grader's.
        return _ForkedProcess(self, pid, ours, pids[0] if pids else (None if self._has_namespace else pid))

    def ask(self, message: bytes, descriptors: tuple[int, ...] = (), received: list[int] | None = None) -> str:
        """Send a message and return the answer; descriptors that come with it are appended to `received`."""
        try:
            if message:
                socket.send_fds(self._control, [message], descriptors)
            reply = b""
            while not reply.endswith(b"\n"):
                chunk, descriptors_received, _, _ = socket.recv_fds(self._control, 64, 1)
                if received is not None:
                    received += descriptors_received
                if not chunk:
                    raise WorkerDied(f"the worker server ended{self._last_error_line()}")
                reply += chunk
        except OSError as error:
            raise WorkerDied(f"the worker server does not answer ({error}){self._last_error_line()}") from error
        return reply.decode().strip()

    def _last_error_line(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.process.wait(1)  # It writes its error message before it ends.
        lines = read_at(self._server.stderr, 0, 1 << 16).decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def close(self) -> None:
        self._server.close()


class SocketProcess(Process):
    """A process at the other end of a socket; a subclass knows how to end it."""

    def __init__(self, channel: socket.socket, pid: int | None) -> None:
        self.channel = channel
        self.pid = pid  # None if it is unknown in this process namespace
        self._ahead = b""  # received, but not asked for yet

    def send(self, frame: bytes) -> None:
        """Send a request."""
        self.channel.settimeout(TRANSFER_SECONDS)
        self.channel.sendall(frame)

    def receive(self, count: int, seconds_to_wait: Callable[[], float]) -> bytes:
        """Return exactly `count` bytes of the answer; see `workers.Process`."""
        # One buffer of the announced size: a list of chunks of one byte each would take fifty times the memory.
        view, received = memoryview(bytearray(max(count, READ_AHEAD))), len(self._ahead)
        view[:received] = self._ahead
        while received < count:
            try:
                seconds = seconds_to_wait()
            except TimeoutError:
                if received:
                    raise
                seconds = 0.0  # On a busy machine, this process may be late: what has arrived by now was in time.
            self.channel.settimeout(seconds)
            try:
                size = self.channel.recv_into(view[received:])
            except BlockingIOError:
                raise TimeoutError from None
            except TimeoutError:
                continue
            if not size:
                raise EOFError
            received += size
        self._ahead = bytes(view[count:received])
        return bytes(view[:count])

    def activity(self) -> Activity | None:
        """Return what the process has used so far, or None where this system cannot tell.

        A process whose answer has not been read yet is not asleep: it waits for the grader.
        """
        activity = activity_of(self.pid) if self.pid else None
        if activity is None or not activity.is_asleep:
            return activity
        unread = select.poll()
        unread.register(self.channel, select.POLLIN)
        return activity._replace(is_asleep=not unread.poll(0))

    def interrupt(self) -> None:
        """From another thread: make the current `receive` end at once, as if the process had died."""
        with contextlib.suppress(OSError):
            self.channel.shutdown(socket.SHUT_RDWR)


class _ForkedProcess(SocketProcess):
    """A child of the server."""

    def __init__(self, server: _ForkServer, pid: int, channel: socket.socket, our_pid: int | None) -> None:
        super().__init__(channel, our_pid)
        self._server, self._pid = server, pid

    def traceback(self) -> str:
        """Return where the process is, as far as it says so; see `workers.Process`."""
        with contextlib.suppress(WorkerDied):
            self._server.ask(b"trace %d" % self._pid)
        received, end = b"", time.monotonic() + TRACEBACK_SECONDS
        with contextlib.suppress(OSError):  # a timeout, too: the text has no end mark
            # Student code may answer in place of `faulthandler`, a byte at a time.
            while len(received) < MAX_TRACEBACK and (seconds := end - time.monotonic()) > 0:
                self.channel.settimeout(min(seconds, TRACEBACK_PAUSE) if received else seconds)
                if not (chunk := self.channel.recv(4096)):
                    break
                received += chunk
        return received.decode("utf-8", "replace")

    def end(self) -> ExitStatus:
        self.channel.close()
        return ExitStatus(*json.loads(self._server.ask(b"end %d" % self._pid)))


class _SpawnedProcess(SocketProcess):
    """A fresh interpreter for one submission, where there is no fork."""

    def __init__(self, folders: list[str], limits: dict[str, int], output: IO[bytes], sandbox: dict[str, Any]) -> None:
        token = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(START_SECONDS)
            port = listener.getsockname()[1]
            settings = {"folders": folders, "limits": limits, "port": port, "token": token, "sandbox": sandbox}
            line = command(sys.executable, "serve", **settings)
            self._process = start(line, output, output)
            try:
                channel, _ = listener.accept()
            except TimeoutError:
                self._process.kill()
                raise WorkerUnavailable("the worker did not start") from None
        super().__init__(channel, self._process.pid)
        timer = CallTimer(Deadline(lambda: START_SECONDS, START_SECONDS), START_SECONDS, lambda: None, SleepMeter())
        try:
            answer = self.receive(len(token), timer.seconds_to_wait)
        except (OSError, EOFError):
            answer = b""
        if answer != token.encode():
            self._process.kill()
            raise WorkerUnavailable("another program answered instead of the worker")

    def end(self) -> ExitStatus:
        self.channel.close()
        self._process.kill()
        return ExitStatus(self._process.wait(), 0.0)


def _pid_of(descriptor: int) -> int | None:
    """Return the grader's number of the process behind a process descriptor, which is closed."""
    try:
        lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text("ascii").splitlines()
    except OSError:
        return None
    finally:
        os.close(descriptor)
    pids = [int(line.partition(":")[2]) for line in lines if line.startswith("Pid:")]
    return pids[0] if pids and pids[0] > 0 else None


class ForkedWorkers(Workers):
    """Has a server that forks the processes (POSIX)."""

    def __init__(self, sandbox: SandboxPolicy = NO_SANDBOX) -> None:
        super().__init__(sandbox)
        # Early, so that NumPy loads while the grader loads pytest.
        self._server: _ForkServer | None = _ForkServer(sandbox)

    def start(self, folders: list[str], limits: dict[str, int], output: IO[bytes]) -> SocketProcess:
        """Start a process for a submission, which prints to `output`; raise WorkerUnavailable if that fails."""
        for is_last_try in (False, True):
            if self._server is None:
                self._server = _ForkServer(self.sandbox)
            try:
                return self._server.fork(folders, limits, output)
            except WorkerDied as error:
                self.close()  # A server that dies is replaced, and the run continues.
                if is_last_try:
                    raise WorkerUnavailable(str(error)) from error
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the server, and with it every process that is still running."""
        if self._server is not None:
            self._server.close()
            self._server = None


class SpawnedWorkers(Workers):
    """Starts a fresh interpreter for each submission."""

    def __init__(self, sandbox: SandboxPolicy = NO_SANDBOX) -> None:
        if sandbox.mechanisms:
            raise ValueError("a sandbox needs a server that forks")
        super().__init__(sandbox)

    def start(self, folders: list[str], limits: dict[str, int], output: IO[bytes]) -> SocketProcess:
        """Start a process for a submission, which prints to `output`; raise WorkerUnavailable if that fails."""
        return _SpawnedProcess(folders, limits, output, self.sandbox.child_setup)


def start_workers(sandbox: SandboxPolicy = NO_SANDBOX) -> Workers:
    """Return workers that fork wherever possible, and spawn elsewhere; a sandbox needs a server that forks."""
    return ForkedWorkers(sandbox) if hasattr(os, "fork") else SpawnedWorkers(sandbox)

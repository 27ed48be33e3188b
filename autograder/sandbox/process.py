"""Start and end student processes: a warm server that forks one child after another, or one interpreter each.

On Linux and macOS the server forks (a few milliseconds); elsewhere every submission gets a fresh interpreter. Both
speak the same frames over a socket, so that one deadline serves everywhere.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from autograder.core import wire_format
from autograder.sandbox.filesystem import numpy_folder
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import CHILD_FOLDER, NO_SANDBOX, SandboxPolicy

START_SECONDS = 30.0


class WorkerDied(Exception):
    """The process ended, or what it sent is not a frame. The text says how."""


class WorkerUnavailable(WorkerDied):
    """No process can be started at all: nobody's submission is at fault."""


class ExitStatus(NamedTuple):
    """How a process ended: minus the signal, or its exit code; and the CPU time it used, seconds."""

    code: int
    cpu_seconds: float


class Process(Protocol):
    """A running student process."""

    channel: socket.socket

    def end(self) -> ExitStatus:
        """Kill it, and say how it ended."""


def _command(python: str, mode: str, **more: Any) -> list[str]:
    setup = {"mode": mode, "numpy": str(numpy_folder().parent), "frames": str(Path(wire_format.__file__)), **more}
    # -I: no environment, no user site, no current folder; -S: no site-packages, so no torch and no autograder.
    return [python, "-I", "-S", "-X", "utf8", str(CHILD_FOLDER / "main.py"), json.dumps(setup)]


# Without these Python may not start: on Windows; where its libraries lie in folders of their own (clusters' modules).
_PYTHON_NEEDS = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def environment_for_numpy() -> dict[str, str]:
    """What the environment of a process must hold before NumPy is loaded in it."""
    # One BLAS thread: small matrices are faster with one, a submission gets one core, and in the sandbox a second
    # thread cannot be had: OpenBLAS would wait for it for ever. The allocator's two settings keep NumPy's temporaries
    # from being given back to the system after every operation (measured: 0.7 times the speed without them).
    environment = {
        **dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"),
        "MALLOC_TRIM_THRESHOLD_": "2147483648",
        "MALLOC_MMAP_THRESHOLD_": "1073741824",
    }
    return environment | {name: os.environ[name] for name in _PYTHON_NEEDS if name in os.environ}


class _Server:
    """A warm interpreter that forks a child for each submission (POSIX)."""

    def __init__(self, sandbox: SandboxPolicy) -> None:
        ours, theirs = socket.socketpair()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the server)
        with theirs:
            command = _command(
                sandbox.python,
                "fork",
                control=theirs.fileno(),
                sandbox=sandbox.child_setup,
                parent=1 if sandbox.prefix else os.getpid(),
            )
            self._process = subprocess.Popen(
                [*sandbox.prefix, *command],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                env=environment_for_numpy(),
                start_new_session=True,  # Ctrl-C is for the grader alone
            )
        self._control = ours
        self._control.settimeout(START_SECONDS)
        self._ready = False

    def fork(self, folder: Path, limits: dict[str, int], output: IO[bytes]) -> "_Forked":
        if not self._ready:
            if self._ask(b"", ()) != "ready":
                raise WorkerDied("the worker server did not start")
            self._ready = True
        ours, theirs = socket.socketpair()
        job = {"folder": str(folder), "limits": limits}
        with theirs:
            try:
                pid = int(self._ask(json.dumps(job).encode(), (theirs.fileno(), output.fileno())))
            except BaseException:
                ours.close()
                raise
        return _Forked(self, pid, ours)

    def end(self, pid: int) -> ExitStatus:
        code, cpu_seconds = json.loads(self._ask(json.dumps({"end": pid}).encode(), ()))
        return ExitStatus(code, cpu_seconds)

    def _ask(self, message: bytes, descriptors: tuple[int, ...]) -> str:
        try:
            if message:
                socket.send_fds(self._control, [message], descriptors)
            reply = b""
            while not reply.endswith(b"\n"):
                chunk = self._control.recv(64)
                if not chunk:
                    raise WorkerDied(f"the worker server ended{self._last_words()}")
                reply += chunk
        except OSError as error:
            raise WorkerDied(f"the worker server does not answer ({error}){self._last_words()}") from error
        return reply.decode().strip()

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # what it complains about is written before it is gone
        lines = read_at(self._complaints, 0, 1 << 16).decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def close(self) -> None:
        self._control.close()  # the server sees the end of the stream and exits; its children die with it
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()


class _Forked:
    def __init__(self, server: _Server, pid: int, channel: socket.socket) -> None:
        self.channel = channel
        self._server = server
        self._pid = pid

    def end(self) -> ExitStatus:
        self.channel.close()
        return self._server.end(self._pid)


class _Spawned:
    """A fresh interpreter for one submission: where there is no fork."""

    def __init__(self, folder: Path, limits: dict[str, int], output: IO[bytes]) -> None:
        token = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(START_SECONDS)
            port = listener.getsockname()[1]
            self._process = subprocess.Popen(
                _command(sys.executable, "serve", folder=str(folder), limits=limits, port=port, token=token),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment_for_numpy(),
                start_new_session=True,
            )
            try:
                self.channel, _ = listener.accept()
            except TimeoutError:
                self._process.kill()
                raise WorkerUnavailable("the worker did not start") from None
        try:
            answer = receive(self.channel, len(token), time.monotonic() + START_SECONDS)
        except (OSError, EOFError):
            answer = b""
        if answer != token.encode():
            self._process.kill()
            raise WorkerUnavailable("something else answered in the worker's place")

    def end(self) -> ExitStatus:
        self.channel.close()
        self._process.kill()
        return ExitStatus(self._process.wait(), 0.0)


class Workers:
    """Starts student processes; one per grader. Used as a context manager.

    Args:
        fork: start from a warm server (POSIX only). None means wherever it can.
        sandbox: isolates the processes further; needs fork.
    """

    def __init__(self, fork: bool | None = None, sandbox: SandboxPolicy = NO_SANDBOX) -> None:
        self._fork = hasattr(os, "fork") if fork is None else fork
        if sandbox.mechanisms and not self._fork:
            raise ValueError("a sandbox needs a server that forks")
        self._sandbox = sandbox
        self._server = _Server(sandbox) if self._fork else None  # early: NumPy loads while the grader loads pytest

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def start(self, folder: Path, limits: Limits, output: IO[bytes], cpu_used: float = 0.0) -> Process:
        """Start a process for the submission in `folder`; what it prints goes to the file `output`."""
        inside = limits.for_child(cpu_used)
        if not self._fork:
            return _Spawned(folder, inside, output)
        for last in (False, True):
            if self._server is None:
                self._server = _Server(self._sandbox)
            try:
                return self._server.fork(folder, inside, output)
            except WorkerDied as error:
                self._server.close()
                self._server = None  # a server that dies is replaced, and the run goes on
                if last:
                    raise WorkerUnavailable(str(error)) from error
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the server and with it every process that is still running."""
        if self._server is not None:
            self._server.close()
            self._server = None


def receive(channel: socket.socket, count: int, deadline: float) -> bytes:
    """Exactly `count` bytes.

    Raises:
        TimeoutError: at the deadline.
        EOFError: if the other side hangs up before.
    """
    # One buffer of the announced size: pieces of one byte each would cost fifty times their weight.
    data = bytearray(count)
    view, got = memoryview(data), 0
    while got < count:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        channel.settimeout(left)
        size = channel.recv_into(view[got:])
        if not size:
            raise EOFError
        got += size
    return bytes(data)


def read_at(file: IO[bytes], start: int, count: int) -> bytes:
    """A part of a file that another process may be writing to."""
    # The descriptor's position is shared with that process: os.pread does not move it.
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), count, start)
    file.seek(start)
    return file.read(count)

"""The trusted half of the worker: start processes, send requests, keep time, kill.

On Linux and macOS a warm server forks one child per submission (a few milliseconds); elsewhere every submission gets a
fresh interpreter. Both speak the same frames over a socket, so that one deadline serves everywhere.
"""

import contextlib
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from autograder import frames

INSIDE = Path(__file__).with_name("inside") / "main.py"
START_SECONDS = 30.0


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes:
        call_seconds: wall time of one call, seconds.
        retry_seconds: wall time of a call to a function that already ran out of time once, seconds.
        output_bytes: what may be printed in the life of one process, bytes.
        shown_bytes: how much of it is kept for the report, bytes per check.
    """

    call_seconds: float = 10.0
    retry_seconds: float = 1.0
    output_bytes: int = 8 << 20
    shown_bytes: int = 4000


class WorkerDied(Exception):
    """The process ended, or what it sent is not a frame. The text says how."""


class WorkerTimedOut(Exception):
    """No answer came before the deadline; the process has been killed."""


class Process(Protocol):
    """A running student process."""

    channel: socket.socket

    def end(self) -> int:
        """Kill it and say how it ended: minus the signal, or its exit code."""


def _setup(mode: str, **more: Any) -> list[str]:
    numpy = importlib.util.find_spec("numpy")
    assert numpy is not None and numpy.origin is not None
    setup = {
        "mode": mode,
        "numpy": str(Path(numpy.origin).parents[1]),
        "frames": str(Path(frames.__file__)),
        "parent": os.getpid(),
        **more,
    }
    # -I: no environment, no user site, no current folder; -S: no site-packages, so no torch and no autograder.
    return [sys.executable, "-I", "-S", "-X", "utf8", str(INSIDE), json.dumps(setup)]


def _environment() -> dict[str, str]:
    # One BLAS thread: small matrices are faster with one, and a submission gets one core.
    # SYSTEMROOT: without it Python does not start on Windows. The allocator's two settings keep NumPy's temporaries
    # from being given back to the system after every operation (measured: 0.7 times the speed without them).
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_TRIM_THRESHOLD_": "2147483648",
        "MALLOC_MMAP_THRESHOLD_": "1073741824",
    }
    if "SYSTEMROOT" in os.environ:
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    return environment


class _Server:
    """A warm interpreter that forks a child for each submission (POSIX)."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                _setup("fork", control=theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,  # Ctrl-C is for the grader alone
            )
        self._control = ours
        self._control.settimeout(START_SECONDS)
        self._ready = False

    def fork(self, folder: Path, limits: Limits, output: IO[bytes]) -> "_Forked":
        if not self._ready:
            if self._ask(b"", ()) != "ready":
                raise WorkerDied("the worker server did not start")
            self._ready = True
        ours, theirs = socket.socketpair()
        job = {"folder": str(folder), "output_bytes": limits.output_bytes}
        with theirs:
            try:
                pid = int(self._ask(json.dumps(job).encode(), (theirs.fileno(), output.fileno())))
            except BaseException:
                ours.close()
                raise
        return _Forked(self, pid, ours)

    def end(self, pid: int) -> int:
        return int(self._ask(json.dumps({"end": pid}).encode(), ()))

    def _ask(self, message: bytes, descriptors: tuple[int, ...]) -> str:
        try:
            if message:
                socket.send_fds(self._control, [message], descriptors)
            reply = b""
            while not reply.endswith(b"\n"):
                chunk = self._control.recv(64)
                if not chunk:
                    raise WorkerDied("the worker server ended")
                reply += chunk
        except OSError as error:
            raise WorkerDied(f"the worker server does not answer ({error})") from error
        return reply.decode().strip()

    def close(self) -> None:
        self._control.close()  # the server sees the end of the stream and exits; its children die with it
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Forked:
    def __init__(self, server: _Server, pid: int, channel: socket.socket) -> None:
        self.channel = channel
        self._server = server
        self._pid = pid

    def end(self) -> int:
        self.channel.close()
        return self._server.end(self._pid)


class _Spawned:
    """A fresh interpreter for one submission: where there is no fork."""

    def __init__(self, folder: Path, limits: Limits, output: IO[bytes]) -> None:
        token = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(START_SECONDS)
            port = listener.getsockname()[1]
            self._process = subprocess.Popen(
                _setup("serve", folder=str(folder), output_bytes=limits.output_bytes, port=port, token=token),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=_environment(),
                start_new_session=True,
            )
            try:
                self.channel, _ = listener.accept()
            except TimeoutError:
                self._process.kill()
                raise WorkerDied("the worker did not start") from None
        self.channel.settimeout(START_SECONDS)
        if _receive(self.channel, len(token), time.monotonic() + START_SECONDS) != token.encode():
            self._process.kill()
            raise WorkerDied("something else answered in the worker's place")

    def end(self) -> int:
        self.channel.close()
        self._process.kill()
        return self._process.wait()


class Workers:
    """Starts student processes; one per grader. Used as a context manager.

    Args:
        fork: start from a warm server (POSIX only). None means wherever it can.
    """

    def __init__(self, fork: bool | None = None) -> None:
        self._fork = hasattr(os, "fork") if fork is None else fork
        self._server = _Server() if self._fork else None  # started early: NumPy loads while the grader loads pytest

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def start(self, folder: Path, limits: Limits, output: IO[bytes]) -> Process:
        """Start a process for the submission in `folder`; what it prints goes to the file `output`."""
        if not self._fork:
            return _Spawned(folder, limits, output)
        for last in (False, True):
            if self._server is None:
                self._server = _Server()
            try:
                return self._server.fork(folder, limits, output)
            except WorkerDied:
                self._server.close()
                self._server = None  # a server that dies is replaced, and the run goes on
                if last:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the server and with it every process that is still running."""
        if self._server is not None:
            self._server.close()
            self._server = None


class Session:
    """One submission's process, started when it is first needed and again after every death."""

    def __init__(self, workers: Workers, folder: Path, limits: Limits) -> None:
        self._workers = workers
        self._folder = folder.resolve()
        self._limits = limits
        self._process: Process | None = None
        self._output: IO[bytes] | None = None
        self._shown = 0

    def request(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one request and wait for its answer.

        Raises:
            WorkerTimedOut: after `seconds`.
            WorkerDied: if the process ends or sends something else than the answer.
        """
        number = secrets.randbits(53)  # a forged answer to a later request would have to guess it
        frame = frames.pack({**message, "id": number})
        process = self._running()
        deadline = time.monotonic() + seconds
        try:
            process.channel.settimeout(seconds)
            process.channel.sendall(frame)
            reply = frames.read(lambda count: _receive(process.channel, count, deadline))
        except TimeoutError:
            self.close()
            raise WorkerTimedOut from None
        except (OSError, EOFError):
            raise WorkerDied(self._how_it_ended()) from None
        except frames.FrameError as error:
            self.close()
            raise WorkerDied(f"its process sent something that is not an answer: {error}") from None
        if not isinstance(reply, dict) or reply.get("id") != number:
            self.close()
            raise WorkerDied("its process sent an answer that nobody asked for")
        return reply

    def printed(self) -> str:
        """What has been printed since the last time this was asked; cut in the middle if it is long."""
        if self._output is None:
            return ""
        start, self._shown = self._shown, os.fstat(self._output.fileno()).st_size
        return self._read(start, self._shown)

    def _read(self, start: int, end: int) -> str:
        assert self._output is not None
        keep = self._limits.shown_bytes
        if end - start <= keep:
            return _read_at(self._output, start, end - start).decode("utf-8", "replace")
        head = _read_at(self._output, start, keep // 2).decode("utf-8", "replace")
        tail = _read_at(self._output, end - keep // 2, keep // 2).decode("utf-8", "replace")
        return f"{head}\n… {end - start - keep:,} bytes left out …\n{tail}"

    def _running(self) -> Process:
        if self._process is None:
            if self._output is not None:
                self._output.close()
            self._output, self._shown = tempfile.TemporaryFile(), 0  # noqa: SIM115 (lives as long as the process)
            self._process = self._workers.start(self._folder, self._limits, self._output)
        return self._process

    def _how_it_ended(self) -> str:
        process, self._process = self._process, None
        assert process is not None
        try:
            code = _end_after_grace(process)
        except WorkerDied as error:
            return str(error)
        if code < 0:
            return f"its process was ended by signal {-code} ({_signal_name(-code)})"
        return f"its process ended by itself with exit code {code} (os._exit, or a crash)"

    def close(self) -> None:
        """Kill the process. What it printed can still be read."""
        if self._process is not None:
            process, self._process = self._process, None
            with contextlib.suppress(WorkerDied):
                process.end()

    def forget(self) -> None:
        """Kill the process and drop what it printed."""
        self.close()
        if self._output is not None:
            self._output.close()
            self._output = None


def _end_after_grace(process: Process) -> int:
    # The socket closes a moment before the process is gone; killing it in that moment would hide how it ended.
    time.sleep(0.02)
    return process.end()


def _signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _receive(channel: socket.socket, count: int, deadline: float) -> bytes:
    chunks: list[bytes] = []
    for chunk in _chunks(channel, count, deadline):
        chunks.append(chunk)
    return b"".join(chunks)


def _chunks(channel: socket.socket, count: int, deadline: float) -> Iterator[bytes]:
    while count:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        channel.settimeout(left)
        chunk = channel.recv(min(count, 1 << 20))
        if not chunk:
            raise EOFError
        count -= len(chunk)
        yield chunk


def _read_at(file: IO[bytes], start: int, count: int) -> bytes:
    # The descriptor's position is shared with the process that writes: os.pread does not move it.
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), count, start)
    file.seek(start)
    return file.read(count)

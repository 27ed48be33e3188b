"""Start the interpreters that run student code. This module does not import NumPy, so that they can load it earlier."""

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from autograder import core, parsing

CHILD_FOLDER = Path(__file__).with_name("child")
PARSING_FOLDER = Path(parsing.__file__).parent
FRAMES = Path(core.__file__).with_name("wire_format.py")
IMPORTABLE = ("numpy", "regex")  # what student code may import besides the standard library
# Python may not start without these: on Windows, or where its libraries are in separate folders (modules of clusters).
_PYTHON_NEEDS = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def package_folder(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def environment_for_numpy() -> dict[str, str]:
    """Return the environment that a process needs before NumPy is loaded in it."""
    # One BLAS thread: small matrices are faster with one, a submission gets one core, and in the sandbox a second
    # thread cannot start: OpenBLAS would wait for it forever. The two settings of the allocator keep the memory of
    # NumPy's temporaries from being returned to the system after every operation (0.7 times the speed without them).
    environment = {
        **dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"),
        "MALLOC_TRIM_THRESHOLD_": "2147483648",
        "MALLOC_MMAP_THRESHOLD_": "1073741824",
    }
    return environment | {name: os.environ[name] for name in _PYTHON_NEEDS if name in os.environ}


def command(python: str, mode: str, **settings: Any) -> list[str]:
    """Return the command line of an interpreter that serves one submission, or forks a child for each."""
    files = {"frames": str(FRAMES), "parsing": str(PARSING_FOLDER / "__init__.py")}
    packages = sorted({str(package_folder(name).parent) for name in IMPORTABLE})
    setup = {"mode": mode, "packages": packages, **files, **settings}
    # -I: no environment, no user site, no current folder. -S: no site-packages, so neither torch nor autograder.
    return [python, "-I", "-S", "-X", "utf8", str(CHILD_FOLDER / "main.py"), json.dumps(setup)]


def start(command: list[str], stdout: IO[bytes] | int, stderr: IO[bytes], *sockets: int) -> subprocess.Popen[bytes]:
    """Start an interpreter, which inherits these sockets."""
    # Only the grader receives Ctrl-C: the process has a session of its own.
    options: dict[str, Any] = {"env": environment_for_numpy(), "start_new_session": True, "pass_fds": sockets}
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, **options)


@dataclass
class Server:
    """A running interpreter that loads NumPy, and then forks a child for each submission (POSIX)."""

    process: subprocess.Popen[bytes]
    control: socket.socket  # on which it takes requests
    stderr: IO[bytes]

    @classmethod
    def start(cls, python: str, prefix: tuple[str, ...], child_setup: dict[str, Any]) -> "Server":
        """Start it behind the command line of a sandbox."""
        ours, theirs = socket.socketpair()
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 (It lives as long as the server.)
        with theirs:
            setup = {"control": theirs.fileno(), "sandbox": child_setup, "parent": 1 if prefix else os.getpid()}
            line = [*prefix, *command(python, "fork", **setup)]
            return cls(start(line, subprocess.DEVNULL, stderr, theirs.fileno()), ours, stderr)

    def close(self) -> None:
        """End it, and with it its children."""
        self.control.close()  # It sees the end of the stream and exits; its children die with it.
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.stderr.close()


UNCONFINED: dict[str, Any] = {"mechanisms": ()}  # the setup of a server without a sandbox
_early: list[Server] = []


@contextlib.contextmanager
def early_server() -> Iterator[None]:
    """Start a server without a sandbox now, for the first that needs one, while this process loads NumPy itself."""
    if hasattr(os, "fork"):
        _early.append(Server.start(sys.executable, (), UNCONFINED))
    try:
        yield
    finally:
        while _early:  # Nothing needed it, so do not wait for its import of NumPy.
            _early[-1].process.kill()
            _early.pop().close()


def take_server(python: str, prefix: tuple[str, ...], child_setup: dict[str, Any]) -> Server:
    """Return the server that was started early, if it is like this; otherwise start one."""
    if _early and (python, prefix, child_setup) == (sys.executable, (), UNCONFINED):
        return _early.pop()
    return Server.start(python, prefix, child_setup)

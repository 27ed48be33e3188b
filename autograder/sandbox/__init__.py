"""Run student code in processes of their own, in a sandbox, reached only through data.

The trusted half builds the sandbox (`policy.py`, with `filesystem.py` for files and `syscalls.py` for system calls),
starts the processes (`process.py`), sends requests and enforces time limits (`session.py`), and proves which level of
the sandbox holds on this machine (`probe.py`). `child/` is the untrusted half: its files run in the student's process,
and Headway never imports them.
"""

from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX, UNSAFE, SandboxPolicy
from autograder.sandbox.probe import SandboxUnavailable, strongest_level
from autograder.sandbox.process import WorkerDied, Workers, WorkerUnavailable
from autograder.sandbox.session import ResourceUsage, Session, WorkerTimedOut

__all__ = [
    "NO_SANDBOX",
    "UNSAFE",
    "Limits",
    "ResourceUsage",
    "SandboxPolicy",
    "SandboxUnavailable",
    "Session",
    "WorkerDied",
    "WorkerTimedOut",
    "WorkerUnavailable",
    "Workers",
    "strongest_level",
]

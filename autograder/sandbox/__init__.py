"""The one clean place where student code runs: another process, behind a wall, reached through data-only frames.

The trusted half builds what stands around the processes (`wall.py`, with `reach.py` for files and `syscalls.py` for
system calls), starts them (`launch.py`), sends requests and keeps time (`session.py`) and proves which wall holds on
this machine (`ladder.py`). `inside/` is the untrusted half: files that run in the student's process and are never
imported by the kit.
"""

from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import OPEN, UNSAFE, Wall
from autograder.sandbox.probe import TooWeak, strongest
from autograder.sandbox.process import NoWorker, WorkerDied, Workers
from autograder.sandbox.session import Session, Spent, WorkerTimedOut

__all__ = [
    "OPEN",
    "UNSAFE",
    "Limits",
    "NoWorker",
    "Session",
    "Spent",
    "TooWeak",
    "Wall",
    "WorkerDied",
    "WorkerTimedOut",
    "Workers",
    "strongest",
]

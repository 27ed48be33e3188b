"""The one clean place where student code runs: another process, behind a wall, reached through data-only frames.

The trusted half builds what stands around the processes (`wall.py`, with `reach.py` for files and `syscalls.py` for
system calls), starts them (`launch.py`), sends requests and keeps time (`session.py`) and proves which wall holds on
this machine (`ladder.py`). `inside/` is the untrusted half: files that run in the student's process and are never
imported by the kit.
"""

from autograder.worker.ladder import TooWeak, strongest
from autograder.worker.launch import NoWorker, WorkerDied, Workers
from autograder.worker.limits import Limits
from autograder.worker.session import Session, Spent, WorkerTimedOut
from autograder.worker.wall import OPEN, UNSAFE, Wall

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

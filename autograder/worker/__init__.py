"""The one clean place where student code runs: another process, reached through data-only frames.

`launch.py` is the trusted half: it starts processes, sends requests, keeps time, kills. `inside/` is the untrusted
half: files that run in the student's process and are never imported by the kit.
"""

from autograder.worker.launch import Limits, Session, WorkerDied, Workers, WorkerTimedOut

__all__ = ["Limits", "Session", "WorkerDied", "WorkerTimedOut", "Workers"]

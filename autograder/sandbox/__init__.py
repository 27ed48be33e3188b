"""Run student code in processes of their own, in a sandbox, reached only through data.

`child/` is the untrusted half: its files run in the student's process, and Headway never imports them. The rest is the
trusted half: it builds the sandbox, proves which level holds on this machine, and enforces time limits. The same kind
of process parses submitted source code, which the grader itself never does (`source_reader.py`).

`in_process.py` stands apart: it runs student code without any process, in a browser, and isolates nothing.
"""

from autograder.sandbox.call_timer import Activity, Deadline
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX, UNSAFE, SandboxPolicy
from autograder.sandbox.probe import SandboxUnavailable, strongest_level
from autograder.sandbox.process import ForkedWorkers, SpawnedWorkers, start_workers
from autograder.sandbox.student_process import ResourceUsage, StoppedLine, StudentProcess, WorkerTimedOut
from autograder.sandbox.workers import StartWorkers, WorkerDied, Workers, WorkerUnavailable

__all__ = [
    "NO_SANDBOX",
    "UNSAFE",
    "Activity",
    "Deadline",
    "ForkedWorkers",
    "Limits",
    "ResourceUsage",
    "SandboxPolicy",
    "SandboxUnavailable",
    "SpawnedWorkers",
    "StartWorkers",
    "StoppedLine",
    "StudentProcess",
    "WorkerDied",
    "WorkerTimedOut",
    "WorkerUnavailable",
    "Workers",
    "start_workers",
    "strongest_level",
]

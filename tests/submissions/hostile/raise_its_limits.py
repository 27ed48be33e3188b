"""Raises its limits and its priority.

Held by: sandbox
Right: full points
"""

import os
import resource

ATTEMPTS = {
    "memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2),
    "files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40,) * 2),
    "CPU time": lambda: resource.setrlimit(resource.RLIMIT_CPU, (1 << 20,) * 2),
    "processes": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (100, 100)),
    "nice": lambda: os.nice(-5),
    "scheduler": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "cores": lambda: os.sched_setaffinity(0, {0}),
    "of others": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_AS, (1 << 30, 1 << 30)),
}
@try_each@

"""Signals the grader, the server and its own group.

Held by: sandbox
Right: full points
"""

import os
import signal

ATTEMPTS = {
    "grader": lambda: os.kill(@grader@, signal.SIGCONT),
    "server": lambda: os.kill(os.getppid(), signal.SIGCONT),
    "all": lambda: os.kill(-1, 0),
    "group": lambda: os.killpg(os.getpgid(0), signal.SIGCONT),
    "descriptor": lambda: os.pidfd_open(os.getppid()),
    "queue": lambda: signal.pidfd_send_signal(os.pidfd_open(@grader@), 0),
}
@try_each@

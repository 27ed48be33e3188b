"""Check the official softmax in an interpreter that lacks what Pyodide lacks, and print the result document.

Run it in an interpreter of its own: `python -m support.check_in_browser_like_python`.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

NOT_INSTALLED = {"msgspec", "click", "watchfiles", "platformdirs", "psutil", "rich", "torch", "tokenizers", "resource"}


class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in NOT_INSTALLED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def unavailable(*args, **kwargs):
    raise NotImplementedError("Pyodide has no processes, threads and sockets")


sys.meta_path.insert(0, NotInstalled())
for module, names in {
    os: ("fork", "forkpty", "posix_spawn", "pidfd_open", "wait4", "setsid", "kill"),
    socket: ("socketpair", "create_server", "create_connection", "send_fds", "recv_fds"),
    subprocess: ("run", "check_output"),
    time: ("thread_time", "pthread_getcpuclockid"),
    signal: ("pthread_sigmask", "pthread_kill"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
socket.socket.__init__ = subprocess.Popen.__init__ = threading.Thread.start = unavailable

from autograder.course import registry  # noqa: E402
from autograder.course.stubs import bundled  # noqa: E402
from autograder.documents import results  # noqa: E402
from autograder.engine.reference import Reference  # noqa: E402
from autograder.engine.reference.memo import Memo  # noqa: E402
from autograder.engine.session import Options, check  # noqa: E402
from autograder.sandbox.in_process import InProcessWorkers  # noqa: E402

curriculum = registry.default()
# Without a cache of the user's, whose folder would be asked of platformdirs.
reference = Reference(Memo(registry.folder(registry.BUILT_IN)), package=registry.BUILT_IN)
options = Options(curriculum.select(["softmax"]), reference=reference, workers=InProcessWorkers)
folder = Path(sys.argv[1]) if sys.argv[1:] else bundled("solutions")
for _ in range(2):  # A page checks again and again.
    result = check("softmax", folder, options)
print(json.dumps(results.to_document(result, curriculum)))

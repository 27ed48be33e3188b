"""Check submissions without what Python in a browser does not have, and print their result documents.

It needs an interpreter of its own, and has one argument: the folders and the names of the functions, as JSON.
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
NOT_INSTALLED |= {"_pytest", "pluggy", "iniconfig", "pygments"}


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

from autograder.core import small_pytest  # noqa: E402

sys.modules["pytest"] = small_pytest

from autograder.course import registry  # noqa: E402
from autograder.documents import results  # noqa: E402
from autograder.engine.diagnosis import diagnose  # noqa: E402
from autograder.engine.reference import Reference  # noqa: E402
from autograder.engine.reference.memo import Memo  # noqa: E402
from autograder.engine.session import Options, check  # noqa: E402
from autograder.sandbox.in_process import InProcessWorkers  # noqa: E402

curriculum = registry.default()
# Without a cache of the user's, whose folder would be asked of platformdirs.
reference = Reference(Memo(registry.folder(registry.BUILT_IN)), package=registry.BUILT_IN)
folders, functions = json.loads(sys.argv[1])
options = Options(functions and tuple(functions), reference=reference, workers=InProcessWorkers)
for name in ("SECONDS_FOR_UNKNOWN", "SECONDS_PER_PHASE", "SECONDS_FOR_SINGLE_CHECKS"):
    setattr(diagnose, name, 5 * getattr(diagnose, name))  # What is found must not depend on the machine.
checked = [check(Path(folder).name, Path(folder), options) for folder in folders]
print(json.dumps([results.to_document(result, curriculum) for result in checked]))

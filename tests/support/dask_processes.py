"""A Dask cluster whose scheduler and workers are processes on the loopback interface."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from support.waiting import wait_until


@contextlib.contextmanager
def cluster(workers, folder, nanny="--no-nanny", cwd=None, **environment):
    """Start a cluster; yield the address of its scheduler and the processes of its workers."""
    environment = {**os.environ, "DASK_DISTRIBUTED__DASHBOARD__ENABLED": "False", **environment}
    started = []

    def start(*arguments):
        log = open(folder / f"{len(started)}.log", "w+")  # noqa: SIM115 (as long as the process)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", *arguments]
        if not started:
            command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *arguments]
        started.append((subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=cwd), log))

    def wait_for(number, text):
        process, log = started[number][0], Path(folder, f"{number}.log")
        wait_until(lambda: re.search(text, log.read_text()) or process.poll() is not None, what=log.read_text)
        match = re.search(text, log.read_text())
        assert match, log.read_text()
        return match

    try:
        start("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        address = wait_for(0, r"tcp://127\.0\.0\.1:\d+")[0]
        for _ in range(workers):
            start(address, "--nthreads", "1", nanny, "--no-dashboard", "--host", "127.0.0.1")
        for number in range(1, workers + 1):
            wait_for(number, "Registered to")
        yield address, [process for process, _ in started[1:]]
    finally:
        for process, log in reversed(started):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
            log.close()

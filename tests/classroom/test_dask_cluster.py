"""A class on a Dask cluster: scheduler and workers are processes of their own on the loopback interface."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import HEADWAY, SOFTMAX, timeless
from support.waiting import wait_until

pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster


def documents(out):
    return {path.name: timeless(json.loads(path.read_text("utf-8"))) for path in sorted((out / "results").iterdir())}


@contextlib.contextmanager
def cluster(workers, folder):
    """Address of the scheduler and the processes of its workers."""
    environment = {**os.environ, "DASK_DISTRIBUTED__DASHBOARD__ENABLED": "False"}
    started = []

    def start(*arguments):
        log = open(folder / f"{len(started)}.log", "w+")  # noqa: SIM115 (as long as the process)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", *arguments]
        if not started:
            command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *arguments]
        started.append((subprocess.Popen(command, stdout=log, stderr=log, env=environment), log))

    def said(number, text):
        process, log = started[number][0], Path(folder, f"{number}.log")
        wait_until(lambda: re.search(text, log.read_text()) or process.poll() is not None, what=log.read_text)
        found = re.search(text, log.read_text())
        assert found, log.read_text()
        return found

    try:
        start("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        address = said(0, r"tcp://127\.0\.0\.1:\d+")[0]
        for _ in range(workers):
            start(address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        for number in range(1, workers + 1):
            said(number, "Registered to")
        yield address, [process for process, _ in started[1:]]
    finally:
        for process, log in reversed(started):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
            log.close()


def grade(folder, out, *arguments):
    settings = ["--assignment", "softmax.softmax", "--seed", "0", "--no-color"]
    command = [*HEADWAY, "grade", folder, "--out", out, *settings, *arguments]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_one_worker_is_killed_and_one_paused_and_the_class_is_the_same(tmp_path):
    for number in range(24):
        (tmp_path / "class" / f"s{number:02}").mkdir(parents=True)
        text = SOFTMAX if number % 3 else SOFTMAX.replace("/ temperature", "* temperature")
        (tmp_path / "class" / f"s{number:02}" / "softmax.py").write_text(text)
    here = grade(tmp_path / "class", tmp_path / "here", "-j", "2")
    said, _ = here.communicate()
    assert here.returncode == 0, said
    with cluster(3, tmp_path) as (address, workers):
        out = tmp_path / "there"
        run = grade(tmp_path / "class", out, "--cluster", address)
        for wanted, worker, what in ((2, 0, signal.SIGKILL), (8, 1, signal.SIGSTOP)):
            wait_until(lambda wanted=wanted: len(list((out / "results").glob("s*.json"))) >= wanted)
            assert run.poll() is None, run.stdout.read()
            workers[worker].send_signal(what)
        said, _ = run.communicate(timeout=300)
        assert run.returncode == 0, said
        assert documents(out) == documents(tmp_path / "here")
        again = grade(tmp_path / "class", out, "-j", "1")  # on one machine, what the cluster did is known
        said, _ = again.communicate()
        assert again.returncode == 0 and "24 already graded" in said


def test_no_scheduler_is_one_line(tmp_path):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "softmax.py").write_text(SOFTMAX)
    run = grade(tmp_path / "class", tmp_path / "out", "--cluster", "tcp://127.0.0.1:9")
    said, _ = run.communicate()
    assert run.returncode == 2, said
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in said and "Traceback" not in said


def test_a_worker_without_a_wall_takes_no_work(tmp_path):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "softmax.py").write_text(SOFTMAX)
    with pytest.MonkeyPatch.context() as patch:
        # What a worker finds instead of the sandbox's proof: a machine that has no mechanism.
        (tmp_path / "weak").mkdir()
        (tmp_path / "weak" / "sitecustomize.py").write_text(
            "import sys\n"
            "if 'distributed.cli.dask_worker' in ' '.join(sys.orig_argv):\n"
            "    from autograder.sandbox import probe\n"
            "    probe.LEVELS = ()\n"
        )
        patch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "weak"), str(Path.cwd())]))
        with cluster(1, tmp_path) as (address, _):
            patch.setenv("PYTHONPATH", str(Path.cwd()))
            run = grade(tmp_path / "class", tmp_path / "out", "--cluster", address)
            said, _ = run.communicate(timeout=300)
    assert run.returncode == 2, said
    assert "takes no work: it has no sandbox" in " ".join(said.split()) and "headway doctor" in said
    assert not list((tmp_path / "out" / "results").iterdir())

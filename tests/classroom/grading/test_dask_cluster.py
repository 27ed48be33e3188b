"""Test grading on a Dask cluster whose scheduler and workers are processes on the loopback interface."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import HEADWAY, SOFTMAX, invoke, timeless
from support.deadly_class import make_deadly_class
from support.hostile_folder import write_all
from support.waiting import wait_until

from autograder.classroom.grading import dask_cluster
from autograder.classroom.grading.worker import WorkerSetup
from autograder.engine.session import Options
from autograder.errors import UsageError

pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster


def documents(out):
    return {path.name: timeless(json.loads(path.read_text("utf-8"))) for path in sorted((out / "results").iterdir())}


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


def grade_arguments(folder, out, *arguments):
    settings = ["--assignment", "softmax.softmax", "--seed", "0", "--no-color"]
    return list(map(str, ["grade", folder, "--out", out, *settings, *arguments]))


def grade(folder, out, *arguments):
    command = [*HEADWAY, *grade_arguments(folder, out, *arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_cluster_killed_and_paused_worker_same_results(tmp_path):
    for number in range(18):
        (tmp_path / "class" / f"s{number:02}").mkdir(parents=True)
        text = SOFTMAX if number % 3 else SOFTMAX.replace("/ temperature", "* temperature")
        (tmp_path / "class" / f"s{number:02}" / "softmax.py").write_text(text)
    here = grade(tmp_path / "class", tmp_path / "here", "-j", "2")
    output, _ = here.communicate()
    assert here.returncode == 0, output
    with cluster(3, tmp_path) as (address, workers):
        out = tmp_path / "there"
        run = grade(tmp_path / "class", out, "--cluster", address)
        for wanted, worker, what in ((2, 0, signal.SIGKILL), (8, 1, signal.SIGSTOP)):
            wait_until(lambda wanted=wanted: len(list((out / "results").glob("s*.json"))) >= wanted)
            assert run.poll() is None, run.stdout.read()
            workers[worker].send_signal(what)
        output, _ = run.communicate(timeout=300)
        assert run.returncode == 0, output
        assert documents(out) == documents(tmp_path / "here")
        again = invoke(*grade_arguments(tmp_path / "class", out))  # the local run reuses the cluster's results
        output = again.stdout
        assert again.returncode == 0 and "18 already graded" in output


def test_cluster_deadly_submissions_fail_once_and_alone(tmp_path, monkeypatch):
    folder, environment, log = make_deadly_class(tmp_path, 6, range(1, 4))
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    with cluster(1, tmp_path) as (address, _):
        run = grade(folder, tmp_path / "out", "--cluster", address)
        output, _ = run.communicate(timeout=300)
    assert run.returncode == 3, output
    assert sorted(log.read_text().split()) == ["s01", "s02", "s03"]
    students = json.loads((tmp_path / "out" / "class.json").read_text("utf-8"))["students"]
    assert [student["status"] for student in students] == ["graded", *3 * ["failed"], *2 * ["graded"]]
    assert all("exit code 7" in student["reason"] for student in students[1:4])


def test_cluster_worker_in_hostile_folder_loads_nothing(tmp_path):
    """The worker is started as docs/instructors.md says."""
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "softmax.py").write_text(SOFTMAX)
    (tmp_path / "hostile").mkdir()
    write_all(tmp_path / "hostile", tmp_path / "marks")
    with cluster(1, tmp_path, "--nanny", tmp_path / "hostile", PYTHONSAFEPATH="1") as (address, _):
        done = invoke(*grade_arguments(tmp_path / "class", tmp_path / "out", "--cluster", address))
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "marks").exists(), (tmp_path / "marks").read_text()


def test_cluster_without_scheduler_is_refused(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    cluster = dask_cluster.DaskCluster(WorkerSetup(Options(), Path()), "tcp://127.0.0.1:9", print, print, print)
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        cluster.run([])


def test_cluster_worker_without_sandbox_takes_no_work(tmp_path):
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
            output, _ = run.communicate(timeout=300)
    assert run.returncode == 2, output
    assert "it has no sandbox" in " ".join(output.split()) and "headway doctor" in output
    assert not list((tmp_path / "out" / "results").iterdir())

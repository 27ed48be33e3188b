"""Test grading on a Dask cluster whose scheduler and workers are processes on the loopback interface."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.commands import HEADWAY, SOFTMAX, run_program, succeed
from support.dask_processes import cluster
from support.deadly_class import make_deadly_class
from support.editing import write_files
from support.hostile_folder import write_all
from support.softmax_class import WRONG, class_document, documents, grade_arguments
from support.waiting import wait_until

from autograder.classroom.grading import dask_cluster
from autograder.classroom.grading.worker import WorkerSetup
from autograder.engine.session import Options
from autograder.errors import UsageError

pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster
WITHOUT_SANDBOX = """
import sys
if 'distributed.cli.dask_worker' in ' '.join(sys.orig_argv):
    from autograder.sandbox import probe
    probe.LEVELS = ()
"""


def start(folder, out, *arguments):
    command = [*HEADWAY, *grade_arguments(folder, "--out", out, *arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def grade(folder, out, *arguments, code=0):
    """Run `headway grade` to its end, with this exit code; return what it printed."""
    done = run_program(*HEADWAY, *grade_arguments(folder, "--out", out, *arguments), code=code, timeout=300)
    return done.stdout + done.stderr


def test_cluster_killed_and_paused_worker_same_results(tmp_path):
    codes = {f"s{number:02}/softmax.py": SOFTMAX if number % 3 else WRONG for number in range(18)}
    write_files(tmp_path / "class", codes)
    grade(tmp_path / "class", tmp_path / "here", "-j", "2")
    with cluster(3, tmp_path) as (address, workers):
        out = tmp_path / "there"
        run = start(tmp_path / "class", out, "--cluster", address)
        for wanted, worker, what in ((2, 0, signal.SIGKILL), (8, 1, signal.SIGSTOP)):
            wait_until(lambda wanted=wanted: len(list((out / "results").glob("s*.json"))) >= wanted)
            assert run.poll() is None, run.stdout.read()
            workers[worker].send_signal(what)
        output, _ = run.communicate(timeout=300)
        assert run.returncode == 0, output
        assert documents(out) == documents(tmp_path / "here")
        again = succeed(*grade_arguments(tmp_path / "class", "--out", out))  # reuses the cluster's results
        assert "18 already graded" in again.stdout


def test_cluster_deadly_submissions_fail_once_and_alone(tmp_path, monkeypatch):
    folder, environment, log = make_deadly_class(tmp_path, 6, range(1, 4))
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    with cluster(1, tmp_path) as (address, _):
        grade(folder, tmp_path / "out", "--cluster", address, code=3)
    assert sorted(log.read_text().split()) == ["s01", "s02", "s03"]
    students = class_document(tmp_path / "out")["students"]
    assert [student["status"] for student in students] == ["graded", *3 * ["failed"], *2 * ["graded"]]
    assert all("exit code 7" in student["reason"] for student in students[1:4])


def test_cluster_worker_in_hostile_folder_loads_nothing(tmp_path):
    """The worker is started as docs/instructors.md says."""
    write_files(tmp_path / "class", {"ada/softmax.py": SOFTMAX})
    (tmp_path / "hostile").mkdir()
    write_all(tmp_path / "hostile", tmp_path / "marks")
    with cluster(1, tmp_path, "--nanny", tmp_path / "hostile", PYTHONSAFEPATH="1") as (address, _):
        succeed(*grade_arguments(tmp_path / "class", "--out", tmp_path / "out", "--cluster", address))
    assert not (tmp_path / "marks").exists(), (tmp_path / "marks").read_text()


def test_cluster_without_scheduler_is_refused(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    cluster = dask_cluster.DaskCluster(WorkerSetup(Options(), Path()), "tcp://127.0.0.1:9", print, print, print)
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        cluster.run([])


def test_cluster_worker_without_sandbox_takes_no_work(tmp_path):
    write_files(tmp_path / "class", {"ada/softmax.py": SOFTMAX})
    with pytest.MonkeyPatch.context() as patch:
        # What a worker finds instead of the sandbox's proof: a machine that has no mechanism.
        write_files(tmp_path / "weak", {"sitecustomize.py": WITHOUT_SANDBOX})
        patch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "weak"), str(Path.cwd())]))
        with cluster(1, tmp_path) as (address, _):
            patch.setenv("PYTHONPATH", str(Path.cwd()))
            output = grade(tmp_path / "class", tmp_path / "out", "--cluster", address, code=2)
    assert "it has no sandbox" in " ".join(output.split()) and "headway doctor" in output
    assert not list((tmp_path / "out" / "results").iterdir())

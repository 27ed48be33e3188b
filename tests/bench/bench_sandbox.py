"""Measure what the sandbox costs: submissions with it and without it in turn, and how many run per second.

    python tests/bench/bench_sandbox.py                cost per submission at every level, pairs in turn, medians
    python tests/bench/bench_sandbox.py --rate         submissions a second, one grader, and one for each core

A submission is a process of its own that is started, loads the official softmax.py, answers three calls and is ended.
With --rate, `sessions` are just that, `checks` are the whole engine: the checks of log_softmax, compared with
PyTorch's answers, a result document each.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum.stubs import bundled
from autograder.engine.session import Options, check_many
from autograder.engine.student import StudentCode
from autograder.results import to_document
from autograder.sandbox import NO_SANDBOX, Limits, probe, start_workers

X = np.linspace(-3, 3, 24).reshape(4, 6)
SECONDS = 5.0


def one(workers, folder):
    """Seconds that one submission takes."""
    started = time.perf_counter()
    student = StudentCode(workers, folder, TRANSFORMER, Limits())
    for axis in (-1, 0, 1):
        student.softmax.log_softmax(X, axis=axis)
    student.close()
    return time.perf_counter() - started


def made(root, name):
    folder = root / name
    folder.mkdir()
    shutil.copy(bundled("solutions") / "softmax.py", folder)
    return folder


def levels(root):
    """Every level that this machine has, strongest first."""
    found = ((level, probe.prove(level, root)[0]) for level in probe.LEVELS)
    return {"+".join(level): sandbox for level, sandbox in found if sandbox is not None}


def cost(root, runs):
    folder = made(root, "submission")
    for name, sandbox in levels(root).items():
        with start_workers() as plain, start_workers(sandbox=sandbox) as sandboxed:
            for workers in (plain, sandboxed):
                one(workers, folder)
            pairs = [(one(plain, folder), one(sandboxed, folder)) for _ in range(runs)]
        without, with_it = (statistics.median(side) * 1e3 for side in zip(*pairs, strict=True))
        more = statistics.median(b - a for a, b in pairs) * 1e3
        print(f"{name:<30}{with_it:6.1f} ms, without {without:.1f} ms: {more:.1f} ms more ({runs} pairs, medians)")


def sessions(sandbox, folder):
    with start_workers(sandbox=sandbox) as workers:
        one(workers, folder)
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < SECONDS:
            one(workers, folder)
            count += 1
    return count, SECONDS


def checks(sandbox, folder):
    times = []

    def submissions():
        while not times or times[-1] - times[0] < SECONDS:
            yield "submission", folder

    def done(result):
        assert result.passed
        to_document(result, TRANSFORMER)
        times.append(time.perf_counter())

    check_many(submissions(), Options(functions=("softmax.log_softmax",), sandbox=sandbox), done)
    return len(times) - 1, times[-1] - times[0]


def cpu_seconds():
    """CPU time of this process and of all that it waited for: on a busy machine it says what the rate cannot."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in usage)


def rate(count):
    for what in ("sessions", "checks"):
        for graders in (1, count):
            command = [sys.executable, __file__, "--grader", what]
            running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(graders)]
            found = [json.loads(grader.communicate()[0]) for grader in running]
            total = sum(per_second for per_second, _ in found)
            cpu = statistics.mean(seconds for _, seconds in found) * 1e3
            print(f"{what:<10}{graders} at a time: {total:6.0f} a second, {cpu:.1f} ms of CPU time each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rate", action="store_true")
    parser.add_argument("--grader", choices=["sessions", "checks"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rate:
        rate(os.cpu_count() or 1)
        return
    with tempfile.TemporaryDirectory(prefix="headway-") as name:
        root = Path(name)
        if options.grader:
            # Without bubblewrap, which costs next to nothing: the CPU time of what runs inside it is not told outside.
            sandbox = levels(root).get("landlock+seccomp", NO_SANDBOX)
            before = cpu_seconds()
            count, seconds = {"sessions": sessions, "checks": checks}[options.grader](sandbox, made(root, "submission"))
            print(json.dumps((count / seconds, (cpu_seconds() - before) / count)))
        else:
            cost(root, options.runs)


if __name__ == "__main__":
    main()

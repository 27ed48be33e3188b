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
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measuring import copy_solutions, make_parser, warm

from autograder.courses.transformer import TRANSFORMER
from autograder.documents.results import to_document
from autograder.engine.session import Options, run_in_session
from autograder.engine.student import StudentCode
from autograder.sandbox import probe
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX
from autograder.sandbox.process import start_workers

X = np.linspace(-3, 3, 24).reshape(4, 6)


def one(workers, folder):
    """Seconds that one submission takes."""
    started = time.perf_counter()
    student = StudentCode(workers, folder, TRANSFORMER, Limits())
    for axis in (-1, 0, 1):
        student.softmax.log_softmax(X, axis=axis)
    student.close()
    return time.perf_counter() - started


def levels(root):
    """Every level that this machine has, strongest first."""
    found = ((level, probe.prove(level, root)[0]) for level in probe.LEVELS)
    return {"+".join(level): sandbox for level, sandbox in found if sandbox is not None}


def cost(root, folder, rounds):
    for name, sandbox in levels(root).items():
        with start_workers() as plain, start_workers(sandbox=sandbox) as sandboxed:
            pairs = warm([(one(plain, folder), one(sandboxed, folder)) for _ in range(rounds + 1)])
        without, with_it = (statistics.median(side) * 1e3 for side in zip(*pairs, strict=True))
        more = statistics.median(b - a for a, b in pairs) * 1e3
        print(f"{name:<30}{with_it:6.1f} ms, without {without:.1f} ms: {more:.1f} ms more, {len(pairs)} pairs")


def sessions(sandbox, folder, seconds):
    with start_workers(sandbox=sandbox) as workers:
        one(workers, folder)
        started, count = time.perf_counter(), 0
        while count == 0 or time.perf_counter() - started < seconds:
            one(workers, folder)
            count += 1
        return count, time.perf_counter() - started


def checks(sandbox, folder, seconds):
    options, times = Options(functions=("softmax.log_softmax",), sandbox=sandbox), []

    def check_repeatedly(session):
        while len(times) < 2 or times[-1] - times[0] < seconds:
            result = session.check("submission", folder, options.functions)
            assert result.passed
            to_document(result, TRANSFORMER)
            times.append(time.perf_counter())

    run_in_session(options, check_repeatedly)
    return len(times) - 1, times[-1] - times[0]


def cpu_seconds():
    """CPU time of this process and of all that it waited for: on a busy machine it says what the rate cannot."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in usage)


def rate(most, seconds):
    for what in ("sessions", "checks"):
        for graders in sorted({1, most}):
            command = [sys.executable, __file__, "--grader", what, "--seconds", str(seconds)]
            running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(graders)]
            found = [json.loads(grader.communicate()[0]) for grader in running]
            total = sum(per_second for per_second, _ in found)
            cpu = statistics.mean(seconds for _, seconds in found) * 1e3
            print(f"{what:<10}{graders} at a time: {total:6.0f} a second, {cpu:.1f} ms of CPU time each")


def main():
    parser = make_parser(__doc__, rounds=200)
    parser.add_argument("--rate", action="store_true")
    parser.add_argument("--graders", type=int, default=os.cpu_count() or 1, help="the most, with --rate")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement, with --rate")
    parser.add_argument("--grader", choices=["sessions", "checks"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rate:
        rate(options.graders, options.seconds)
        return
    with tempfile.TemporaryDirectory(prefix="headway-") as name:
        root = Path(name)
        folder = root / "submission"
        copy_solutions(folder, ["softmax"])
        if options.grader:
            # Without bubblewrap, which costs next to nothing: the CPU time of what runs inside it is not told outside.
            sandbox = levels(root).get("landlock+seccomp", NO_SANDBOX)
            before = cpu_seconds()
            count, seconds = {"sessions": sessions, "checks": checks}[options.grader](sandbox, folder, options.seconds)
            print(json.dumps((count / seconds, (cpu_seconds() - before) / count)))
        else:
            cost(root, folder, options.rounds)


if __name__ == "__main__":
    main()

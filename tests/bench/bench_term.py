"""Measure a term in one OUT: four assignments from three platforms, graded, run again, and scored by another policy.

    python tests/bench/bench_term.py [--students 2000] [--sample 100] [-j 2] [--keep FOLDER]

The term is that of tests/support/term.py, with as many students as asked for. Grading is measured on a sample of the
students, in the sandbox. For the rest, each distinct submission is graded once and its result copied to all who
submitted it, so that OUT has a result document for every student and assignment. Then each command runs in a process of
its own: the second run without a change, the change of policy, the report and the exports.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import term
from support.commands import HEADWAY, invoke
from support.softmax_class import CachingPool

from autograder.classroom import grade as grade_module


def run(label, *arguments):
    """Run a command and print its time, CPU time and the largest memory of one of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    child = subprocess.Popen([*HEADWAY, *map(str, arguments), "--no-color"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - started
    if status:
        sys.exit(f"headway {' '.join(map(str, arguments))} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{label:<50} {took:6.1f} s, CPU {cpu:6.1f} s, {usage.ru_maxrss / 1024:5.0f} MiB", flush=True)
    return took, cpu


def submissions(students):
    return sum(len(works) for person in students for works in person.work.values())


def measure_grading(root, count, processes):
    students = term.people(count)
    term.make_term(root, students)
    options = ("--out", root / "out", "--course", root / "course.toml", "--seed", "0", "-j", processes)
    took, cpu = run(f"grading {count} students, -j {processes}", "grade", root / "downloads", *options)
    total = submissions(students)
    print(f"  {total} submissions: {took / total * 1e3:.0f} ms each, {cpu / total * 1e3:.0f} ms of CPU time each")


def fill(root, students):
    """Grade the term with one grading of each distinct submission."""
    grade_module.WorkerPool, fsync, os.fsync = CachingPool, os.fsync, lambda descriptor: None
    arguments = ("--out", root / "out", "--course", root / "course.toml", "--seed", "0", "--no-color")
    try:
        done = invoke("grade", root / "downloads", *arguments)
    finally:
        os.fsync = fsync
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=2000)
    parser.add_argument("--sample", type=int, default=100, help="students whose grading is measured; 0 for none")
    parser.add_argument("-j", "--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="keep the term in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="term-") as scratch:
        if options.sample:
            (Path(scratch) / "sample").mkdir()
            measure_grading(Path(scratch) / "sample", options.sample, options.processes)
        root = options.keep or Path(scratch) / "term"
        out = root / "out"
        if not out.exists():
            root.mkdir(parents=True, exist_ok=True)
            students = term.people(options.students)
            term.make_term(root, students)
            print(f"{options.students} students, {submissions(students)} submissions", flush=True)
            fill(root, students)
        run("second run, nothing changed", "grade", root / "downloads", "--out", out, "--course", root / "course.toml")
        term.write_policy(
            root / "course.toml", head=term.POLICY.replace("penalty_per_day = 0.1", "penalty_per_day = 0.2")
        )
        run("change of policy, without the submissions", "grade", "--out", out)
        run("report", "report", out)
        run("grades.csv", "export", "csv", out, "--to", root / "grades.csv")
        run("feedback files", "report", out, "--feedback", root / "feedback")


if __name__ == "__main__":
    main()

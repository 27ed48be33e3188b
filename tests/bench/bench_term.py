"""Measure a term in one OUT: four assignments from three platforms, graded, run again, and scored by another policy.

    python tests/bench/bench_term.py [--students 2000] [--sample 100] [-j 2] [--keep FOLDER]

The term is that of tests/support/term.py, with as many students as asked for. Grading is measured on a sample of the
students, in the sandbox. For the rest, each distinct submission is graded once and its result copied to all who
submitted it, so that OUT has a result document for every student and assignment. Then each command runs in a process of
its own: the second run without a change, the change of policy, the report and the exports.
"""

import os
import tempfile
from pathlib import Path

from measuring import make_parser, timed
from support import term
from support.commands import HEADWAY, succeed
from support.softmax_class import CachingPool

from autograder.classroom import grade as grade_module


def run(label, *arguments):
    """Run a command and print its time, CPU time and the largest memory of one of its processes."""
    cost = timed(*HEADWAY, *arguments, "--no-color", cwd=Path.cwd())
    print(f"{label:<50} {cost.seconds:6.1f} s, CPU {cost.cpu:6.1f} s, {cost.megabytes:5.0f} MiB", flush=True)
    return cost


def submissions(students):
    return sum(len(works) for person in students for works in person.work.values())


def measure_grading(root, count, processes):
    students = term.people(count)
    term.make_term(root, students)
    options = ("--out", root / "out", "--course", root / "course.toml", "--seed", "0", "-j", processes)
    cost = run(f"grading {count} students, -j {processes}", "grade", root / "downloads", *options)
    total = submissions(students)
    each, cpu = (1e3 * value / total for value in (cost.seconds, cost.cpu))
    print(f"  {total} submissions: {each:.0f} ms each, {cpu:.0f} ms of CPU time each")


def fill(root, students):
    """Grade the term with one grading of each distinct submission."""
    grade_module.WorkerPool, fsync, os.fsync = CachingPool, os.fsync, lambda descriptor: None
    arguments = ("--out", root / "out", "--course", root / "course.toml", "--seed", "0", "--no-color")
    try:
        succeed("grade", root / "downloads", *arguments)
    finally:
        os.fsync = fsync


def main():
    parser = make_parser(__doc__)
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
        policy = term.POLICY.replace("penalty_per_day = 0.1", "penalty_per_day = 0.2")
        term.write_policy(root / "course.toml", head=policy)
        run("change of policy, without the submissions", "grade", "--out", out)
        run("report", "report", out)
        run("grades.csv", "export", "csv", out, "--despite-open", "--to", root / "grades.csv")
        run("feedback files", "report", out, "--feedback", root / "feedback")


if __name__ == "__main__":
    main()

"""How fast notebooks are graded in one nbgrader course: `nbgrader autograde` and `headway grade --nbgrader`, in turn.

    python tests/bench/bench_nbgrader.py [--students 100] [-j 2] [--sample 5] [--rounds 3]

The course is a released one, the assignment softmax; right, wrong, warning, empty and syntactically wrong notebooks,
each with a line of its own. Both read `submitted/` and write the gradebook and `autograded/`; nbgrader's graded cells
are the kit's own, with a warm memo, so that what is compared is how they are run. Every figure is a whole command's,
start-up included. nbgrader grades one submission after another in the same time each, so a sample of a few is enough.
What is quoted is the median of the ratios round by round, which holds when the machine's speed drifts.
"""

import argparse
import copy
import csv
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import nbgrader_class
from support.nbgrader_class import ASSIGNMENT

KINDS = ("right", "wrong", "warning", "stub", "syntax")
HEADWAY = ("-m", "autograder.cli")


def run(*command, cwd, env):
    """Seconds that a command of Python took."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return time.perf_counter() - started


def hand_in(course, notebooks, students):
    rng = random.Random(0)
    for number in range(students):
        made = copy.deepcopy(notebooks[KINDS[number % len(KINDS)]])
        made.cells.append(nbformat.v4.new_code_cell(f"MARK = {rng.getrandbits(64)}"))
        folder = course / "submitted" / f"student{number:04}" / ASSIGNMENT
        folder.mkdir(parents=True)
        nbformat.write(made, folder / f"{ASSIGNMENT}.ipynb")


def scores(course, env):
    run("-m", "nbgrader", "export", cwd=course, env=env)
    with open(course / "grades.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == ASSIGNMENT]
    return {row["student_id"]: float(row["score"]) for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=100, help="graded by headway")
    parser.add_argument("--sample", type=int, default=5, help="graded by nbgrader")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-j", dest="processes", type=int, default=2)
    options = parser.parse_args()
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        course, few = scratch / "course", scratch / "few"
        env = nbgrader_class.environment(scratch / "cache")
        run(*HEADWAY, "release", course, "--format", "nbgrader", "--seed", "7", cwd=scratch, env=env)
        run("-m", "nbgrader", "generate_assignment", ASSIGNMENT, cwd=course, env=env)
        notebooks = nbgrader_class.submissions(course)
        shutil.copytree(course, few)
        hand_in(course, notebooks, options.students)
        hand_in(few, notebooks, options.sample)
        shutil.copy(course / "gradebook.db", scratch / "fresh.db")
        for number in range(options.rounds + 1):
            theirs.append(run("-m", "nbgrader", "autograde", ASSIGNMENT, "--force", cwd=few, env=env))
            shutil.copy(scratch / "fresh.db", course / "gradebook.db")
            shutil.rmtree(course / "autograded", ignore_errors=True)
            grade = ("grade", "submitted", "--assignment", ASSIGNMENT, "--seed", "7", "-j", options.processes)
            ours.append(
                run(*HEADWAY, *grade, "--out", scratch / f"out{number}", "--nbgrader", ".", cwd=course, env=env)
            )
        both = scores(course, env)
        equal = scores(few, env)
        assert all(both[student] == score for student, score in equal.items()), "the two disagree"
    # The first round warms the memo and the file caches of both.
    each = [took / options.students for took in ours[1:]]
    other = [took / options.sample for took in theirs[1:]]
    ratios = [b / a for a, b in zip(each, other, strict=True)]
    print(f"{ASSIGNMENT}, {options.rounds} rounds, whole commands, seconds for each submission: median (min to max)")
    for label, seconds in (("nbgrader autograde", other), (f"headway grade -j {options.processes}", each)):
        print(f"  {label:<20}{statistics.median(seconds):7.3f} ({min(seconds):.3f} to {max(seconds):.3f})")
    print(f"  {statistics.median(ratios):.1f} times as fast ({min(ratios):.1f} to {max(ratios):.1f})")


if __name__ == "__main__":
    main()

"""Seconds per submission: `nbgrader autograde` and `headway grade` on the same notebooks, one after the other.

python tests/bench/bench_nbgrader.py [--students 10]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).parents[1]))
import nbgrader_class

MANY = 9
KINDS = ("right", "wrong", "warning", "stub", "syntax")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=10)
    students = parser.parse_args().students
    with tempfile.TemporaryDirectory() as name:
        course = Path(name, "course")
        variables = nbgrader_class.environment(Path(name, "cache"))

        def run(*command: str, cwd: Path = course) -> float:
            started = time.perf_counter()
            done = subprocess.run(
                [sys.executable, *command], cwd=cwd, env=variables, capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
            return time.perf_counter() - started

        release = ("-m", "autograder.cli", "release", str(course), "--format", "nbgrader", "--seed", "7")
        run(*release, cwd=Path(name))
        run("-m", "nbgrader", "generate_assignment", nbgrader_class.ASSIGNMENT)
        made = nbgrader_class.submissions(course)
        for number in range(students * MANY):  # ours, of a whole class: its start matters less there
            where = "submitted" if number < students else "more"
            folder = course / where / f"student{number}" / nbgrader_class.ASSIGNMENT
            folder.mkdir(parents=True)
            nbformat.write(made[KINDS[number % len(KINDS)]], folder / f"{nbgrader_class.ASSIGNMENT}.ipynb")
        grade = [
            "-m",
            "autograder.cli",
            "grade",
            "--assignment",
            "softmax",
            "--seed",
            "7",
            "-j",
            "1",
            "--layout",
            "nbgrader",
        ]
        run(*grade, "submitted", "--out", "warm")  # PyTorch's answers to the hidden inputs are remembered for both
        ours = run(*grade, "submitted", "--out", "out")
        theirs = run("-m", "nbgrader", "autograde", nbgrader_class.ASSIGNMENT)
        again = run(*grade, "submitted", "--out", "again")
        more = run(*grade, "more", "--out", "many") / (students * (MANY - 1))
    mine = (ours + again) / 2
    print(f"{students} submissions, seconds each, with the start of the program")
    print(f"nbgrader autograde  {theirs / students:7.3f}")
    print(f"headway grade -j 1  {mine / students:7.3f}   {theirs / mine:.0f} times as fast")
    print(f"the same, of {students * (MANY - 1)}  {more:7.3f}   {theirs / students / more:.0f} times as fast")


if __name__ == "__main__":
    main()

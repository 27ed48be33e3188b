"""The time of a check: `headway` against plain pytest, which imports PyTorch and the student's code.

    python tests/bench/bench_check.py            one student, `headway check softmax`
    python tests/bench/bench_check.py --class    20 submissions of softmax, attention and layernorm

Both run the same check modules on the same folders in whole processes, start-up included, in turn. Prints the medians,
and the median of the ratios of the pairs: it is robust when the machine's speed drifts, and need not be the quotient of
the medians.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.curriculum.registry import BUILT_IN, check_files

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "autograder" / "engine" / "pytest.ini"
# Both may cache compiled Python files, which is the default.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
MODULES = ("softmax", "attention", "layernorm")


def seconds(command, **environment):
    started = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, cwd=ROOT, check=False
    )
    duration = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return duration


def headway(*arguments):
    return [sys.executable, "-m", "autograder.cli", *map(str, arguments)]


def plain(modules, submission, *more):
    files = [str(path) for module in modules for path in check_files(module, BUILT_IN)]
    options = ["-q", "-p", "plain", "-p", "no:cacheprovider", "-c", str(CONFIGURATION)]
    environment = {"SUBMISSION": str(submission), "PYTHONPATH": str(Path(__file__).parent)}
    return seconds([sys.executable, "-m", "pytest", *options, *more, *files], **environment)


def report(name, ours, theirs, unit, per=1):
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    scale = 1e3 / per
    print(f"{name}, {len(ours)} pairs, median (min to max), {unit}")
    for label, values in (("headway", ours), ("plain pytest", theirs)):
        low, middle, high = min(values), statistics.median(values), max(values)
        print(f"  {label:<14}{middle * scale:8.0f}   ({low * scale:.0f} to {high * scale:.0f})")
    print(
        f"  plain pytest takes {statistics.median(ratios):.1f} times as long, median of pairs "
        f"({min(ratios):.1f} to {max(ratios):.1f})"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--class", dest="many", action="store_true")
    parser.add_argument("--submissions", type=int, default=20)
    options = parser.parse_args()
    solutions = ROOT / "solutions"
    with tempfile.TemporaryDirectory() as scratch:
        if not options.many:
            check = headway("check", "softmax", "--dir", solutions)
            seconds(check), plain(["softmax"], solutions)  # warm the file caches of both
            pairs = [(seconds(check), plain(["softmax"], solutions)) for _ in range(options.runs)]
            report("headway check softmax", *zip(*pairs, strict=True), "ms")
            return
        group = Path(scratch) / "class"
        for number in range(options.submissions):
            (group / f"s{number:02}").mkdir(parents=True)
            for module in MODULES:
                shutil.copy(solutions / f"{module}.py", group / f"s{number:02}")
        names = [part for module in MODULES for part in ("--assignment", module)]

        def graded(run):
            """Grade into a new folder, because results in an old one would be reused."""
            return seconds(headway("grade", group, "--out", Path(scratch) / f"out{run}", "--seed", "0", *names))

        graded("warm")
        pairs = [
            (graded(run), sum(plain(MODULES, folder) for folder in sorted(group.iterdir())))
            for run in range(options.runs)
        ]
        report(f"{options.submissions} submissions", *zip(*pairs, strict=True), "ms each", options.submissions)


if __name__ == "__main__":
    main()

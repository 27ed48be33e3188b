"""Compare how fast nbgrader, one plain pytest process per submission, and `headway grade` grade a class.

    python tests/bench/bench_class.py [--rounds 3] [--sample 5] [--submissions 200] [-j 2]

All grade the same assignment: softmax, attention and layer norm with Headway's checks on the public inputs, and 20
different submissions, repeated. Every figure is for a whole command with its start-up; `headway grade` uses its
sandbox. nbgrader and plain pytest take the same time for every submission, so a small sample is enough. The quoted
figure is the median of the ratios of each round, which holds when the machine's speed drifts.
"""

import argparse
import json
import os
import random
import re
import resource
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
FUNCTIONS = ("softmax.softmax", "attention.attention", "layernorm.layernorm")
MODULES = tuple(name.partition(".")[0] for name in FUNCTIONS)
KINDS = 20


def sources():
    """Yield twenty different correct submissions: the solutions with a random comment and constant."""
    rng = random.Random(0)
    for _ in range(KINDS):
        mark = f"# {rng.getrandbits(64):x}\nMARK = {rng.getrandbits(30)}\n"
        yield {module: (ROOT / "solutions" / f"{module}.py").read_text("utf-8") + mark for module in MODULES}


def make_class(folder, count, kinds):
    for number in range(count):
        (folder / f"s{number:03}").mkdir(parents=True)
        for module, text in kinds[number % KINDS].items():
            (folder / f"s{number:03}" / f"{module}.py").write_text(text, "utf-8")


def timed(command, cwd=ROOT, **environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment}, check=False
    )
    took = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def headway(group, out, processes):
    names = [part for name in FUNCTIONS for part in ("--assignment", name)]
    command = [sys.executable, "-m", "autograder.cli", "grade", group, "--out", out, "--seed", "0", "-j", processes]
    took = timed([*command, *names, "--no-color"])
    students = json.loads((out / "class.json").read_text("utf-8"))["students"]
    assert all(student["earned"] == student["possible"] > 0 for student in students), "a correct submission lost points"
    return took


def plain_pytest(folder):
    # Only the checks of the three functions are run, as in the other runs.
    picked = [str(path) for module in MODULES for path in check_files(module, BUILT_IN)]
    options = ["-q", "-p", "plain", "-p", "only", "-p", "no:cacheprovider", "-c", str(CONFIGURATION)]
    environment = {"SUBMISSION": str(folder), "PYTHONPATH": str(Path(__file__).parent), "ONLY": ",".join(FUNCTIONS)}
    return timed([sys.executable, "-m", "pytest", *options, *picked], **environment)


def nbgrader_course(root, kinds, count):
    """Write a course of one notebook: a solution cell per module and a test cell, worth one point, per function."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    def cell(text, name, *, grade, solution):
        about = {"grade": grade, "solution": solution, "locked": grade, "task": False, "schema_version": 3}
        return new_code_cell(text, metadata={"nbgrader": about | {"grade_id": name} | ({"points": 1} if grade else {})})

    def notebook(modules):
        first = f"import sys; sys.path[:0] = {[str(Path(__file__).parent), str(ROOT)]!r}\nfrom plain_cells import run"
        cells = [new_code_cell(first)]
        for module, text in modules.items():
            # All modules share the notebook's namespace, so imports of each other are removed.
            text = re.sub(rf"^from (?:{'|'.join(MODULES)}) import.*$", "", text, flags=re.MULTILINE)
            cells.append(cell(text, module, grade=False, solution=True))
        cells += [
            cell(f"run({name!r}, globals())", f"test_{name.replace('.', '_')}", grade=True, solution=False)
            for name in FUNCTIONS
        ]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        return new_notebook(cells=cells, metadata=kernel)

    root.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'bench'\n")
    stub = "### BEGIN SOLUTION\npass\n### END SOLUTION"
    (root / "source" / "week").mkdir(parents=True)
    nbformat.write(notebook(dict.fromkeys(MODULES, stub)), root / "source" / "week" / "week.ipynb")
    timed([sys.executable, "-m", "nbgrader", "generate_assignment", "week"], cwd=root)
    for number in range(count):
        where = root / "submitted" / f"s{number:03}" / "week"
        where.mkdir(parents=True)
        nbformat.write(notebook(kinds[number % KINDS]), where / "week.ipynb")


def autograde(root, count):
    shutil.rmtree(root / "autograded", ignore_errors=True)
    took = timed([sys.executable, "-m", "nbgrader", "autograde", "week", "--force"], cwd=root)
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        scores = [submission.score for submission in book.assignment_submissions("week")]
    assert scores == [3.0] * count, f"a correct submission lost points in nbgrader: {scores}"
    return took


def report(label, seconds, cpu, per):
    each = [value / per * 1e3 for value in seconds]
    middle = statistics.median(each)
    print(
        f"  {label:<22}{middle:9.1f} ms each ({min(each):.1f} to {max(each):.1f})  "
        f"{1e3 / middle:7.2f}/s  CPU {statistics.median(cpu) / per * 1e3:7.1f} ms each"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=5, help="submissions a round for nbgrader and plain pytest")
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("-j", dest="processes", type=int, default=2)
    options = parser.parse_args()
    import nbgrader

    # nbgrader runs the script `alembic`, which is in the environment's bin folder.
    os.environ["PATH"] = f"{Path(nbgrader.__file__).parents[4] / 'bin'}{os.pathsep}{os.environ['PATH']}"
    kinds = list(sources())
    ours, theirs, plains, empty = [], [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        make_class(scratch / "class", options.submissions, kinds)
        make_class(scratch / "one", 1, kinds)
        nbgrader_course(scratch / "course", kinds, options.sample)
        for number in range(options.rounds + 1):
            theirs.append(autograde(scratch / "course", options.sample))
            ours.append(headway(scratch / "class", scratch / f"out{number}", options.processes))
            runs = [plain_pytest(scratch / "class" / f"s{i:03}") for i in range(options.sample)]
            plains.append(tuple(map(sum, zip(*runs, strict=True))))
            empty.append(headway(scratch / "one", scratch / f"one{number}", 1))
            if number == 0:  # the first round only warms the file caches
                for times in (ours, theirs, plains, empty):
                    times.clear()
    print(f"softmax, attention, layer norm; {options.rounds} rounds, whole commands, median (min to max)")
    report("nbgrader autograde", *zip(*theirs, strict=True), options.sample)
    report("plain pytest each", *zip(*plains, strict=True), options.sample)
    report(f"headway grade -j {options.processes}", *zip(*ours, strict=True), options.submissions)
    report("  its start-up", *zip(*empty, strict=True), options.submissions)
    for label, others, count in (("nbgrader's", theirs, options.sample), ("plain pytest's", plains, options.sample)):
        ratios = [(b[0] / count) / (a[0] / options.submissions) for a, b in zip(ours, others, strict=True)]
        print(
            f"  headway grades {statistics.median(ratios):.1f} times {label} submissions per second "
            f"({min(ratios):.1f} to {max(ratios):.1f})"
        )


if __name__ == "__main__":
    main()

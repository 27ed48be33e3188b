"""Compare how fast nbgrader, one plain pytest process per submission, and `headway grade` grade a class.

    python tests/bench/bench_class.py [--rounds 3] [--sample 5] [--submissions 200] [-j 2]

All grade the same assignment: softmax, attention and layer norm with Headway's checks on the public inputs, and 20
different submissions, repeated. Every figure is for a whole command with its start-up; `headway grade` uses its
sandbox. nbgrader and plain pytest take the same time for every submission, so a small sample is enough. The quoted
figure is the median of the ratios of each round, which holds when the machine's speed drifts.
"""

import json
import random
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import nbformat
from measuring import ROOT, grade_command, make_parser, plain_pytest, ratios, spread, timed, warm
from nbformat.v4 import new_code_cell, new_notebook
from support import nbgrader_class
from support.editing import write_files

from autograder.course.stubs import bundled

FUNCTIONS = ("softmax.softmax", "attention.attention", "layernorm.layernorm")
MODULES = tuple(name.partition(".")[0] for name in FUNCTIONS)
KINDS = 20


def sources():
    """Yield twenty different correct submissions: the solutions with a random comment and constant."""
    rng = random.Random(0)
    for _ in range(KINDS):
        mark = f"# {rng.getrandbits(64):x}\nMARK = {rng.getrandbits(30)}\n"
        yield {module: (bundled("solutions") / f"{module}.py").read_text("utf-8") + mark for module in MODULES}


def make_class(folder, count, kinds):
    for number in range(count):
        files = {f"{module}.py": text for module, text in kinds[number % KINDS].items()}
        write_files(folder / f"s{number:03}", files)


def headway(group, out, processes):
    cost = timed(*grade_command(group, out, FUNCTIONS, "-j", processes))
    students = json.loads((out / "class.json").read_text("utf-8"))["students"]
    assert all(student["earned"] == student["possible"] > 0 for student in students), "a correct submission lost points"
    return cost


def notebook(modules):
    """Return a notebook with a solution cell per module and a test cell, worth one point, per function."""

    def cell(text, name, *, grade, solution):
        about = {"grade": grade, "solution": solution, "locked": grade, "task": False, "schema_version": 3}
        return new_code_cell(text, metadata={"nbgrader": about | {"grade_id": name} | ({"points": 1} if grade else {})})

    first = f"import sys; sys.path[:0] = {[str(Path(__file__).parent), str(ROOT)]!r}\nfrom plain_cells import run"
    cells = [new_code_cell(first)]
    for module, text in modules.items():
        # All modules share the notebook's namespace, so imports of each other are removed.
        text = re.sub(rf"^from (?:{'|'.join(MODULES)}) import.*$", "", text, flags=re.MULTILINE)
        cells.append(cell(text, module, grade=False, solution=True))
    for name in FUNCTIONS:
        text = f"run({name!r}, globals())"
        cells.append(cell(text, f"test_{name.replace('.', '_')}", grade=True, solution=False))
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return new_notebook(cells=cells, metadata=kernel)


class Course:
    """An nbgrader course with one assignment, `week`, that some students have submitted."""

    def __init__(self, root, kinds, count):
        self.root, self.count = root, count
        everything = nbgrader_class.environment(root / "cache")
        self.env = {name: everything[name] for name in ("PATH", "JUPYTER_PATH")}
        (root / "source" / "week").mkdir(parents=True)
        (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'bench'\n")
        stub = "### BEGIN SOLUTION\npass\n### END SOLUTION"
        nbformat.write(notebook(dict.fromkeys(MODULES, stub)), root / "source" / "week" / "week.ipynb")
        self.nbgrader("generate_assignment", "week")
        for number in range(count):
            folder = root / "submitted" / f"s{number:03}" / "week"
            folder.mkdir(parents=True)
            nbformat.write(notebook(kinds[number % KINDS]), folder / "week.ipynb")

    def nbgrader(self, *arguments):
        return timed(sys.executable, "-m", "nbgrader", *arguments, cwd=self.root, env=self.env)

    def autograde(self):
        shutil.rmtree(self.root / "autograded", ignore_errors=True)
        cost = self.nbgrader("autograde", "week", "--force")
        scores = list(nbgrader_class.scores(self.root, "week").values())
        assert scores == [len(FUNCTIONS)] * self.count, f"a correct submission lost points in nbgrader: {scores}"
        return cost


def report(label, costs, per):
    each = [cost.seconds / per for cost in costs]
    cpu = statistics.median(cost.cpu for cost in costs) / per
    rate = 1 / statistics.median(each)
    print(f"  {label:<22}{spread(each, '.1f', 1e3):>30} ms each {rate:7.2f}/s  CPU {1e3 * cpu:7.1f} ms each")


def main():
    parser = make_parser(__doc__, rounds=3)
    parser.add_argument("--sample", type=int, default=5, help="submissions a round for nbgrader and plain pytest")
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("-j", dest="processes", type=int, default=2)
    options = parser.parse_args()
    kinds = list(sources())
    ours, theirs, plains, empty = [], [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        make_class(scratch / "class", options.submissions, kinds)
        make_class(scratch / "one", 1, kinds)
        course = Course(scratch / "course", kinds, options.sample)
        for number in range(options.rounds + 1):
            theirs.append(course.autograde())
            ours.append(headway(scratch / "class", scratch / f"out{number}", options.processes))
            # Only the checks of the three functions are run, as in the other runs.
            folders = [scratch / "class" / f"s{i:03}" for i in range(options.sample)]
            first, *others = (plain_pytest(folder, MODULES, functions=FUNCTIONS) for folder in folders)
            plains.append(sum(others, first))
            empty.append(headway(scratch / "one", scratch / f"one{number}", 1))
    print(f"softmax, attention, layer norm; {len(warm(ours))} rounds, whole commands, median (min to max)")
    report("nbgrader autograde", warm(theirs), options.sample)
    report("plain pytest each", warm(plains), options.sample)
    report(f"headway grade -j {options.processes}", warm(ours), options.submissions)
    report("  its start-up", warm(empty), options.submissions)
    ours_each = [cost.seconds / options.submissions for cost in warm(ours)]
    for label, others in (("nbgrader's", theirs), ("plain pytest's", plains)):
        times = ratios(ours_each, [cost.seconds / options.sample for cost in warm(others)])
        print(f"  headway grades {spread(times, '.1f')} times {label} submissions per second")


if __name__ == "__main__":
    main()

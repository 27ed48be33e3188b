"""What the benchmarks share: timed commands, plain pytest, medians, processes that answer line by line."""

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
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for tests/support
from support.commands import HEADWAY
from support.paths import ROOT

from autograder.course.model import BUILT_IN
from autograder.course.registry import check_files
from autograder.course.stubs import bundled

# Otherwise, NumPy and PyTorch return memory to the system after every step. `headway train` sets these for its process.
ALLOCATOR = {"MALLOC_TRIM_THRESHOLD_": "2147483648", "MALLOC_MMAP_THRESHOLD_": "1073741824"}
# All sides may cache compiled Python files, which is the default.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def make_parser(description, **rounds):
    """Return a parser of options, with `--rounds` if its default is given."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if rounds:
        text = "after one that warms the caches; 0: only that one"
        parser.add_argument("--rounds", type=int, default=rounds["rounds"], help=text)
    return parser


def warm(values, first=1):
    """Return the values without the first, which only warmed the caches; all of them if there are no others."""
    return values[first:] or values


@dataclass(frozen=True)
class Cost:
    """What a command cost, with all processes that it waited for."""

    seconds: float
    cpu: float
    megabytes: float  # of its largest process

    def __add__(self, other):
        megabytes = max(self.megabytes, other.megabytes)
        return Cost(self.seconds + other.seconds, self.cpu + other.cpu, megabytes)


def timed(*command, cwd=ROOT, env=None, exits=(0,)):
    """Run a command and return what it cost; end with its output if it fails."""
    command = list(map(str, command))
    with tempfile.TemporaryFile("w+") as output:
        started = time.perf_counter()
        environment = {**ENVIRONMENT, **(env or {})}
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in exits:
            output.seek(0)
            sys.exit(f"{' '.join(command)} failed:\n{output.read()[-4000:]}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def grade_command(folder, out, names, *more):
    """Return the command that grades a class with the public inputs."""
    selected = [part for name in names for part in ("--assignment", name)]
    return list(map(str, [*HEADWAY, "grade", folder, "--out", out, "--seed", "0", "--no-color", *selected, *more]))


def plain_pytest(folder, modules, *more, functions=()):
    """Run the checks of some modules, or only of some of their functions, with plain pytest and PyTorch."""
    files = [path for module in modules for path in check_files(module, BUILT_IN)]
    options = ["-q", "-p", "plain", "-p", "no:cacheprovider", "-c", ROOT / "autograder" / "engine" / "pytest.ini"]
    env = {"SUBMISSION": str(folder), "PYTHONPATH": str(Path(__file__).parent), "FUNCTIONS": ",".join(functions)}
    return timed(sys.executable, "-m", "pytest", *options, *more, *files, env=env)


def copy_solutions(folder, modules):
    """Copy some official solutions to a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for module in modules:
        shutil.copy(bundled("solutions") / f"{module}.py", folder)


def spread(values, form=".0f", scale=1.0):
    """Return the median with the smallest and the largest value, as a text."""
    middle, low, high = (scale * value for value in (statistics.median(values), min(values), max(values)))
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def median_ms(values):
    """Return the median of some seconds in milliseconds, as a text; "–" if there is no value."""
    return f"{1e3 * statistics.median(values):.0f}" if values else "–"


def ratios(ours, theirs):
    """Return the quotients of theirs and ours, pair by pair: their median holds when the machine's speed drifts."""
    return [b / a for a, b in zip(ours, theirs, strict=True)]


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Worker:
    """A process that runs `answer_numbers`."""

    def __init__(self, *command, env):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(list(map(str, command)), env={**ENVIRONMENT, **env}, **pipes)

    def ask(self, number):
        """Return the seconds that it took, and the result."""
        print(number, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"a process of the benchmark ended with exit code {self._process.wait()}")
        return json.loads(line)

    def close(self):
        self._process.communicate()


def answer_numbers(function):
    """Call a function with each number on standard input, and write the seconds that it took and its result."""
    for line in sys.stdin:
        started = time.perf_counter()
        result = function(int(line))
        print(json.dumps([time.perf_counter() - started, result]), flush=True)

"""Grade honest students with and without hostile ones among them, and compare their results.

    python tests/support/mixed_class.py [--honest 180] [--hostile 20] [-j 2]

Prints the time and the peak memory of the grader, with and without the sandboxes of the students, and the limits.
"""

import argparse
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from autograder.classroom.policy.model import Policy
from autograder.course.stubs import bundled
from support.built_in import mistakes_of_function, source_with_mistakes
from support.commands import HEADWAY, timeless
from support.editing import write_files
from support.hostile_class import Traps, attacks, write_attack
from support.process_tree import family, memory_mib

FUNCTIONS = ("softmax.softmax", "softmax.log_softmax", "softmax.cross_entropy", "softmax.softmax_backward")
# One of each kind; the first six are in the small class of the tests.
HOSTILE = (
    "loop_in_python", "notebook_deep_attributes", "kill_the_grader", "flood_output", "hidden_shared_folder",
    "notebook_million_statements", "fork", "memory_bit_by_bit", "overflow_the_stack", "sleep_and_spin", "patch_numpy",
    "write_files", "archive_bomb", "floating_keys", "diagnosis_random_answers", "report_html", "parsing_statements",
    "config_with_a_path", "unreadable_brackets", "die_after_work",
)  # fmt: skip


@dataclass
class Run:
    """What came of grading a class: results of the honest students by name, and what it cost, in seconds and MiB."""

    documents: dict[str, object]
    hostile_points: list[float]
    seconds: float
    grader_mib: float = 0.0
    process_mib: float = 0.0  # of the largest process of the grader
    all_mib: float = 0.0
    sprung: tuple[str, ...] = ()


def write_honest(folder: Path, count: int) -> None:
    """Write right and wrong submissions of softmax; every third has a known mistake."""
    chance = random.Random(1)
    right = (bundled("solutions") / "softmax.py").read_text("utf-8")
    for number in range(count):
        mistake = chance.choice(mistakes_of_function(chance.choice(FUNCTIONS)))
        text = source_with_mistakes(mistake) if number % 3 == 1 else right
        write_files(folder / f"honest{number:03}", {"softmax.py": f"{text}\n# {chance.random()}\n"})


def write_hostile(folder: Path, count: int, words: dict[str, object]) -> None:
    """Write hostile submissions, whose names are between those of the honest ones."""
    known = {attack.name: attack for attack in attacks()}
    for number, name in enumerate(HOSTILE[:count]):
        write_attack(folder / f"honest{number * 9:03}-{name}", known[name].files, words)


class MemoryMeter(threading.Thread):
    """Watches the memory of a process and of all below it, in MiB, until `stop`."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid, self._stopped = pid, threading.Event()
        self.grader = self.largest = self.all = 0.0

    def run(self) -> None:
        while not self._stopped.wait(0.1):
            grader, students = [0.0], [0.0]
            for pid in family(self._pid):
                with contextlib.suppress(OSError):
                    command = Path(f"/proc/{pid}/cmdline").read_bytes()
                    is_students = b"child/main.py" in command or b"bwrap" in command
                    (students if is_students else grader).append(memory_mib(pid))
            self.grader = max(self.grader, sum(grader))
            self.largest = max(self.largest, *grader, 0.0)
            self.all = max(self.all, sum(grader) + sum(students))

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def grade(folder: Path, honest: int, hostile: int, processes: int = 2) -> Run:
    """Write and grade a class in the sandbox, with the default limits."""
    with Traps() as traps:
        write_honest(folder / "class", honest)
        write_hostile(folder / "class", hostile, traps.words(Path("/nonexistent")))
        out = folder / "out"
        command = [*HEADWAY, "grade", folder / "class", "--out", out, "--seed", "0", "--assignment", "softmax"]
        started = time.perf_counter()
        command = [*map(str, command), "-j", str(processes)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            meter = MemoryMeter(process.pid)
            meter.start()
            _, errors = process.communicate()
            meter.stop()
        assert process.returncode == 0, errors
        results = {path.stem: json.loads(path.read_text("utf-8")) for path in (out / "results").glob("*.json")}
        assert len(results) == honest + hostile, "a submission was lost"
        documents = {name: timeless(result) for name, result in results.items() if "-" not in name}
        hostile_points = [result["points"]["earned"] for name, result in results.items() if "-" in name]
        seconds, sprung = time.perf_counter() - started, tuple(traps.sprung())
        return Run(documents, hostile_points, seconds, meter.grader, meter.largest, meter.all, sprung)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--honest", type=int, default=180)
    parser.add_argument("--hostile", type=int, default=len(HOSTILE))
    parser.add_argument("-j", dest="processes", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as scratch:
        alone = grade(Path(scratch, "alone"), options.honest, 0, options.processes)
        mixed = grade(Path(scratch, "mixed"), options.honest, options.hostile, options.processes)
    different = [name for name in alone.documents if alone.documents[name] != mixed.documents[name]]
    print(f"honest results that differ: {len(different)} of {options.honest} {different[:5]}; traps: {mixed.sprung}")
    for label, run in ((f"{options.honest} honest", alone), (f"with {options.hostile} hostile", mixed)):
        memory = f"{run.grader_mib:.0f} MiB (its largest process {run.process_mib:.0f})"
        print(f"  {label:18} {run.seconds:6.1f} s; memory of the grader {memory}, of all {run.all_mib:.0f} MiB")
    limits = Policy().limits
    print(f"limits: {limits.memory_mib} MiB for each process of a student, 1024 MiB for each that reads;")
    print(f"  {limits.submission_seconds:g} s for a submission, {limits.student_seconds:g} s of CPU time for a student")
    sys.exit(bool(different or mixed.sprung))


if __name__ == "__main__":
    main()

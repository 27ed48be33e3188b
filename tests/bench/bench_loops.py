"""Measure what endless loops cost: a class of 60 in which some students have one, on three whole assignments.

    python tests/bench/bench_loops.py [--count 60] [--loops 7] [-j 1]

Prints the seconds per submission, and those of the submissions with and without a loop: time that passed, and CPU time
of the grader and the students' processes, which a busy machine changes less. Half of the others have a known mistake.
"""

import json
import random
import tempfile
from pathlib import Path

from measuring import copy_solutions, grade_command, make_parser, timed

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import mistakes_of_function
from autograder.engine.diagnosis.variants import source_with_mistakes

MODULES = ("softmax", "attention", "layernorm")
LOOPING = (
    "softmax.softmax", "attention.attention", "layernorm.layernorm", "softmax.cross_entropy",
    "attention.attention_backward", "layernorm.layernorm_backward", "softmax.softmax_backward",
)  # fmt: skip
WRONG = ("softmax.log_softmax", "attention.attention", "layernorm.layernorm", "softmax.softmax_backward")


def write_class(folder, count, loops):
    chance = random.Random(1)
    for number in range(count):
        name = f"{number:03}-{'loop' if number < loops else 'wrong' if number % 2 else 'right'}"
        student = folder / name
        copy_solutions(student, MODULES)
        if number < loops:
            module, _, function = LOOPING[number % len(LOOPING)].partition(".")
            with open(student / f"{module}.py", "a") as file:
                file.write(f"\n\ndef {function}(*args, **kwargs):\n    while True:\n        pass\n")
        elif number % 2:
            mistake = chance.choice(mistakes_of_function(chance.choice(WRONG), package=TRANSFORMER.package))
            module = mistake.function.partition(".")[0]
            (student / f"{module}.py").write_text(source_with_mistakes(mistake, package=TRANSFORMER.package))


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--loops", type=int, default=7)
    parser.add_argument("-j", dest="processes", default="1")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as scratch:
        folder, out = Path(scratch, "class"), Path(scratch, "out")
        write_class(folder, options.count, options.loops)
        took = timed(*grade_command(folder, out, MODULES, "-j", options.processes)).seconds
        documents = {path.stem: json.loads(path.read_text("utf-8")) for path in (out / "results").glob("*.json")}
        print(f"{took / options.count:.3f} s per submission, {took:.1f} s in all")
        show("all", documents.values())
        for kind in ("loop", "wrong", "right"):
            show(kind, [document for name, document in documents.items() if name.endswith(kind)])


def show(kind, documents):
    passed = [document["seconds"] for document in documents]
    used = [document["used"]["cpu_seconds"] + document["used"]["grader_seconds"] for document in documents]
    if passed:
        passed_text = f"{sum(passed) / len(passed):6.3f} s each, at most {max(passed):.3f}"
        print(f"  {kind:6} {passed_text}; CPU time {sum(used) / len(used):.3f} s each, at most {max(used):.3f}")


if __name__ == "__main__":
    main()

"""What naming mistakes costs: checking a wrong submission with and without diagnosis, as whole processes in turn.

    python tests/bench/bench_diagnosis.py

The submission is the solution with one listed mistake in it (the diagnosis finds it) or with a change that nobody has
listed (it tries every candidate, and pairs, in vain).
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import mistakes_of_function
from autograder.engine.diagnosis.variants import solution_source, source_with_mistakes

CHECK = """
import sys
from pathlib import Path
from autograder.engine import Options, check
from autograder.curriculum import TRANSFORMER
options = Options(functions=TRANSFORMER.select([sys.argv[2]]), diagnose=sys.argv[3] == "1")
result = check("s", Path(sys.argv[1]), options)
assert not result.passed
"""
# function whose mistake is used, what is checked, and a change that no mistake is
CASES = (
    (
        "softmax.softmax",
        "softmax",
        ("z /= z.sum(axis=axis, keepdims=True)", "z /= 1.01 * z.sum(axis=axis, keepdims=True)"),
    ),
    ("layernorm.layernorm", "layernorm", None),
    ("attention.attention", "attention", None),
    ("blocks.block", "blocks", None),
)


def seconds(folder, name, diagnose):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", CHECK, str(folder), name, str(int(diagnose))], check=True)
    return time.perf_counter() - started


def compare(label, folder, name, runs):
    seconds(folder, name, True), seconds(folder, name, False)
    pairs = [(seconds(folder, name, True), seconds(folder, name, False)) for _ in range(runs)]
    ratio = statistics.median(a / b for a, b in pairs)
    with_it, without = (statistics.median(values) for values in zip(*pairs, strict=True))
    print(f"{label:<44}{with_it * 1e3:7.0f} ms with, {without * 1e3:7.0f} ms without: {ratio:.2f} times")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    for function, name, unlisted in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            for module in TRANSFORMER.modules:
                (folder / f"{module}.py").write_text(solution_source(module), "utf-8")
            mistake = mistakes_of_function(function)[0]
            (folder / f"{name}.py").write_text(source_with_mistakes(mistake), "utf-8")
            compare(mistake.id, folder, name, options.runs)
            if unlisted:
                (folder / f"{name}.py").write_text(solution_source(name).replace(*unlisted), "utf-8")
                compare(f"{name}, a change that nobody has listed", folder, name, options.runs)


if __name__ == "__main__":
    main()

"""The cost of diagnosis: check a wrong submission with and without it, in whole processes in turn.

    python tests/bench/bench_diagnosis.py

The submission is the solution with a known mistake, which the diagnosis finds, or with an unknown one, for which it
tries every candidate and pair without success.
"""

import sys
import tempfile
from pathlib import Path

from measuring import copy_solutions, make_parser, timed, warm

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import mistakes_of_function
from autograder.engine.diagnosis.variants import solution_source, source_with_mistakes

CHECK = """
import sys
from pathlib import Path
from autograder.courses.transformer import TRANSFORMER
from autograder.engine.session import Options, check
options = Options(functions=TRANSFORMER.select([sys.argv[2]]), diagnose=sys.argv[3] == "1")
result = check("s", Path(sys.argv[1]), options)
assert not result.passed
"""
# The function whose first mistake is used, the module to check, and a change that is no known mistake.
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


def compare(label, folder, name, rounds):
    pairs = []
    for _ in range(rounds + 1):
        commands = [(sys.executable, "-c", CHECK, folder, name, diagnose) for diagnose in (1, 0)]
        pairs.append([timed(*command).seconds for command in commands])
    # Both times come from the pair with the median ratio, so that they agree with it.
    pairs = sorted(warm(pairs), key=lambda pair: pair[0] / pair[1])
    diagnosed, undiagnosed = pairs[len(pairs) // 2]
    times = f"{diagnosed * 1e3:7.0f} ms with diagnosis, {undiagnosed * 1e3:7.0f} ms without"
    print(f"{label:<44}{times}: {diagnosed / undiagnosed:.2f} times as long", flush=True)


def main():
    parser = make_parser(__doc__, rounds=7)
    parser.add_argument("--function", choices=[case[0] for case in CASES], help="only this one")
    options = parser.parse_args()
    for function, name, unknown_change in CASES:
        if options.function not in (None, function):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            copy_solutions(folder, TRANSFORMER.modules)
            mistake = mistakes_of_function(function, package=TRANSFORMER.package)[0]
            (folder / f"{name}.py").write_text(source_with_mistakes(mistake, package=TRANSFORMER.package), "utf-8")
            compare(mistake.id, folder, name, options.rounds)
            if unknown_change:
                (folder / f"{name}.py").write_text(
                    solution_source(name, package=TRANSFORMER.package).replace(*unknown_change), "utf-8"
                )
                compare(f"{name}, an unknown mistake", folder, name, options.rounds)


if __name__ == "__main__":
    main()

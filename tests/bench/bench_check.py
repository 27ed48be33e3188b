"""The time of a check: `headway` against plain pytest, which imports PyTorch and the student's code.

    python tests/bench/bench_check.py            one student, `headway check softmax`
    python tests/bench/bench_check.py --class    20 submissions of softmax, attention and layernorm

Both run the same check modules on the same folders in whole processes, start-up included, in turn. Prints the medians,
and the median of the ratios of the pairs: it is robust when the machine's speed drifts, and need not be the quotient of
the medians.
"""

import tempfile
from pathlib import Path

from measuring import copy_solutions, grade_command, make_parser, plain_pytest, ratios, spread, timed, warm
from support.commands import HEADWAY

from autograder.course.stubs import bundled

MODULES = ("softmax", "attention", "layernorm")


def check_one():
    """Return the seconds of `headway check` and of plain pytest."""
    solutions = bundled("solutions")
    return (
        timed(*HEADWAY, "check", "softmax", "--dir", solutions).seconds,
        plain_pytest(solutions, ["softmax"]).seconds,
    )


def grade_class(scratch, number, submissions):
    """Return the seconds of `headway grade` into a new folder, because old results are reused, and of plain pytest."""
    group = scratch / "class"
    for student in range(submissions):
        copy_solutions(group / f"s{student:02}", MODULES)
    ours = timed(*grade_command(group, scratch / f"out{number}", MODULES)).seconds
    return ours, sum(plain_pytest(folder, MODULES).seconds for folder in sorted(group.iterdir()))


def main():
    parser = make_parser(__doc__, rounds=7)
    parser.add_argument("--class", dest="many", action="store_true")
    parser.add_argument("--submissions", type=int, default=20)
    options = parser.parse_args()
    count = options.submissions if options.many else 1
    with tempfile.TemporaryDirectory() as scratch:
        pairs = [
            grade_class(Path(scratch), number, count) if options.many else check_one()
            for number in range(options.rounds + 1)
        ]
    ours, theirs = zip(*warm(pairs), strict=True)
    what = f"{count} submissions" if options.many else "check softmax"
    print(f"{what}, {len(ours)} pairs, ms each: median (min to max)")
    for label, values in (("headway", ours), ("plain pytest", theirs)):
        print(f"  {label:<14}{spread(values, scale=1e3 / count)}")
    print(f"  plain pytest takes {spread(ratios(ours, theirs), '.1f')} times as long, median of pairs")


if __name__ == "__main__":
    main()

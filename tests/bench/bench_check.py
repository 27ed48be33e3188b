"""The time of a check: `headway check softmax` against plain pytest, which imports PyTorch and the student's code.

    python tests/bench/bench_check.py

Both run the same check modules on the same folder in whole processes, start-up included, in turn. Prints the medians,
and the median of the ratios of the pairs: it is robust when the machine's speed drifts, and need not be the quotient of
the medians.
"""

from measuring import make_parser, plain_pytest, ratios, spread, timed, warm
from support.commands import HEADWAY

from autograder.course.stubs import bundled


def check_once():
    """Return the seconds of `headway check` and of plain pytest."""
    solutions = bundled("solutions")
    ours = timed(*HEADWAY, "check", "softmax", "--dir", solutions)
    return ours.seconds, plain_pytest(solutions, ["softmax"]).seconds


def main():
    options = make_parser(__doc__, rounds=7).parse_args()
    ours, theirs = zip(*warm([check_once() for _ in range(options.rounds + 1)]), strict=True)
    print(f"check softmax, {len(ours)} pairs, ms each: median (min to max)")
    for label, values in (("headway", ours), ("plain pytest", theirs)):
        print(f"  {label:<14}{spread(values, scale=1e3)}")
    print(f"  plain pytest takes {spread(ratios(ours, theirs), '.1f')} times as long, median of pairs")


if __name__ == "__main__":
    main()

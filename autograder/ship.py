"""Make the memo that ships with the kit: PyTorch's answers to the public cases. `python -m autograder.ship`."""

import sys

from autograder.engine import KitError, Options, check
from autograder.errors import HeadwayError
from autograder.reference import Reference, source_digest, torch_version
from autograder.reference.memo import SHIPPED, Memo, write_shipped
from autograder.source import bundled


def collect() -> dict[str, dict[str, bytes]]:
    """Ask PyTorch everything that the checks ask about the solutions with the public seed; frames by module and key.

    Raises:
        KitError: if a solution does not pass, because a check that fails asks no further.
    """
    memo = Memo(shipped=SHIPPED / "none", cache=None)
    result = check("solutions", bundled("solutions"), Options(reference=Reference(memo)))
    if not result.passed or result.problems:
        wrong = [check.id for check in result.checks if check.status != "passed"]
        raise KitError(f"the solutions do not pass: {', '.join([*wrong, *result.problems])}")
    return memo.used


def main() -> int:
    """Write the memo beside the references."""
    try:
        used = collect()
    except HeadwayError as error:
        print(f"ship: {error}", file=sys.stderr)
        return 3
    for stale in SHIPPED.glob("*"):
        stale.unlink()
    write_shipped(SHIPPED, used, {"torch": torch_version() or "", "sources": source_digest()})
    size = sum(path.stat().st_size for path in SHIPPED.iterdir())
    print(f"{sum(map(len, used.values()))} answers, {size / 1024:.0f} KiB in {SHIPPED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

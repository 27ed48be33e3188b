"""Build the memo that ships with Headway, PyTorch's answers: `python -m autograder.engine.build_memo`."""

import sys

from autograder.core.versions import torch_version
from autograder.curriculum.stubs import bundled
from autograder.engine.reference import Reference, shipped_answers, source_digest
from autograder.engine.reference.memo import Memo, write_shipped
from autograder.engine.session import InternalError, Options, check
from autograder.errors import HeadwayError


def ask_everything(reference: Reference) -> None:
    """Let `reference` answer every request that the checks make about the official solutions with the public inputs.

    All solutions must pass, because a check that fails makes no further requests.
    """
    result = check("solutions", bundled("solutions"), Options(reference=reference))
    if not result.passed or result.internal_errors:
        failed = [f"{check.id}: {check.message}" for check in result.checks if check.status != "passed"]
        raise InternalError(f"the solutions do not pass: {'; '.join([*failed, *result.internal_errors][:5])}")


def main() -> int:
    """Write the memo beside the references."""
    shipped = shipped_answers()
    memo = Memo(shipped / "none")
    try:
        ask_everything(Reference(memo))
    except HeadwayError as error:
        print(f"build_memo: {error}", file=sys.stderr)
        return 3
    for stale in shipped.glob("*"):
        stale.unlink()
    write_shipped(shipped, memo.used, {"torch": torch_version() or "", "sources": source_digest()})
    size = sum(path.stat().st_size for path in shipped.iterdir())
    print(f"{sum(map(len, memo.used.values()))} answers, {size / 1024:.0f} KiB in {shipped}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

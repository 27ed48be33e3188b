"""Build the answers that ship with a course, so that checks need neither PyTorch nor the references.

`headway verify --build-answers` does it for a course of another package,
`python -m autograder.authoring.build_memo` for the built-in one.
"""

import sys

from autograder.core.text import counted
from autograder.core.versions import torch_version
from autograder.course import Curriculum, registry
from autograder.engine.official_solutions import official_solutions
from autograder.engine.reference import Reference, source_digest
from autograder.engine.reference.memo import Memo, shipped_file, write_shipped
from autograder.engine.session import InternalError, Options, check
from autograder.errors import HeadwayError


def ask_everything(reference: Reference, curriculum: Curriculum) -> None:
    """Let `reference` answer every request that the checks make about the official solutions with the public inputs.

    All solutions must pass, because a check that fails makes no further requests.
    """
    with official_solutions(curriculum) as folder:
        result = check("solutions", folder, Options(reference=reference, curriculum=curriculum))
    if not result.passed or result.internal_errors:
        failed = [f"{check.id}: {check.message}" for check in result.checks if check.status != "passed"]
        raise InternalError(f"the solutions do not pass: {'; '.join([*failed, *result.internal_errors][:5])}")


def build(curriculum: Curriculum) -> str:
    """Write the answers of a course's own references beside them, in place of older ones; return a line about them."""
    folder = registry.folder(curriculum.package)
    memo = Memo(folder / "none")
    ask_everything(Reference(memo, package=curriculum.package), curriculum)
    for stale in folder.glob("*/answers.memo"):
        stale.unlink()
    write_shipped(folder, memo.used, {"torch": torch_version() or "", "sources": source_digest(curriculum.package)})
    size = sum(shipped_file(folder, module).stat().st_size for module in memo.used)
    answers = counted(sum(map(len, memo.used.values())), "answer")
    return f"{answers}, {size / 1024:.0f} KiB, written to {folder}"


def main() -> int:
    """Write the answers of the built-in course."""
    try:
        print(build(registry.default()))
    except HeadwayError as error:
        print(f"build_memo: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

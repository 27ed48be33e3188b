"""Check the official solutions as on a 32-bit platform, and print which requests have no shipped answer.

Run it in an interpreter of its own: `python -m support.check_with_int32 [MODULE]...`. The checks and the solutions see
a NumPy whose default integer is int32. Nothing computes an answer that does not ship with the course.
"""

import json
import sys

import numpy as np

from support import numpy_with_int32

numpy_with_int32.install()

from autograder.core import default_integer  # noqa: E402
from autograder.course import registry  # noqa: E402
from autograder.course.stubs import bundled  # noqa: E402
from autograder.engine.reference import Reference  # noqa: E402
from autograder.engine.reference.memo import Memo  # noqa: E402
from autograder.engine.session import Options, check  # noqa: E402
from autograder.errors import Mismatch  # noqa: E402
from autograder.sandbox.in_process import InProcessWorkers  # noqa: E402

default_integer.DEFAULT_INTEGER = np.dtype(np.int32)


class ShippedAnswers(Reference):
    """Answers from the shipped memo only; notes what is not there."""

    def __init__(self, package):
        self.memo = Memo(registry.folder(package))
        super().__init__(self.memo, package=package)
        self.missing = []

    def _ask(self, module, function, args, kwargs):
        self.missing.append(f"{module}.{function}")
        raise Mismatch(f"no shipped answer to {module}.{function}")


functions = registry.default().select(sys.argv[1:]) if sys.argv[1:] else None
reference = ShippedAnswers(registry.BUILT_IN)
result = check("solutions", bundled("solutions"), Options(functions, reference=reference, workers=InProcessWorkers))
found = {
    "default": str(np.arange(2).dtype),
    "missing": reference.missing,
    "failed": {check.id: check.message for check in result.checks if check.status != "passed"},
    "errors": result.internal_errors,
    "checks": len(result.checks),
    "answers": sum(map(len, reference.memo.used.values())),
}
print(json.dumps(found))

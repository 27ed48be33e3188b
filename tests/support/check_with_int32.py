"""Check the official solutions as on a 32-bit platform, and print which requests have no shipped answer.

Run it in an interpreter of its own: `python -m support.check_with_int32 [MODULE]...`. The checks and the solutions see
a NumPy whose default integer is int32, as on Pyodide: integers made without a dtype are int32 (`np.array([1, 2])`,
`np.arange(5)`, `np.argmax(x)`, `np.sum` of booleans, `dtype=int`). Only functions of NumPy can be replaced, not the
methods of arrays. Nothing computes an answer that does not ship with the course.
"""

import functools
import json
import sys

import numpy as np

MODULES = (np, np.linalg)


def install():
    """Replace the functions of NumPy in this interpreter."""
    for module in MODULES:
        for name, function in list(vars(module).items()):
            is_function = callable(function) and not isinstance(function, (type, np.ufunc))
            if is_function and not name.startswith("_") and name not in ("dtype", "frombuffer", "errstate"):
                setattr(module, name, narrowed(function))


def narrowed(function):
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        if any(is_integer_dtype(value) for value in (*args, kwargs.get("dtype"))):
            return result
        return result if has_int64((args, kwargs)) else narrow(result)

    return call


def is_integer_dtype(value):
    """Return whether an argument is a dtype other than the default integer."""
    return value is not int and isinstance(value, (type, np.dtype, str))


def has_int64(value):
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return any(map(has_int64, value))
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype == np.int64


def narrow(value):
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(map(narrow, value))
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype == np.int64:
        return value.astype(np.int32)
    return value


install()  # before Headway is imported

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
failed = {check.id: check.message for check in result.checks if check.status != "passed"}
answers = sum(map(len, reference.memo.used.values()))
found = {"default": str(np.arange(2).dtype), "missing": reference.missing, "failed": failed}
print(json.dumps({**found, "errors": result.internal_errors, "checks": len(result.checks), "answers": answers}))

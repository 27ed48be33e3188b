"""The process in which the plain tests run an implementation. It has no sandbox."""

import importlib
import importlib.util
import os
import sys
import types
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from autograder.curriculum import registry


def run_worker(connection: Connection) -> None:
    """Receive functions and sources until the pipe closes; send whether each implementation is wrong."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # What an implementation prints must not come between the answers.
    os.dup2(nothing, 2)
    sys.path.insert(0, str(registry.solutions(registry.BUILT_IN)))
    warnings.simplefilter("ignore")
    connection.send("ready")
    while True:
        try:
            function, source = connection.recv()
        except EOFError:
            return
        connection.send(is_wrong(function, source))


def is_wrong(function: str, source: str) -> bool | None:
    """Return whether the test of a function fails with this implementation; None if it has no test."""
    test = find_test(function)
    if test is None:
        return None
    official = importlib.import_module(function.partition(".")[0])
    module = types.ModuleType(official.__name__)
    # A test may use other functions of the assignment; those that the source does not define are official.
    module.__dict__.update(vars(official))
    try:
        exec(compile(source, f"<{function}>", "exec"), module.__dict__)
        test(module)
    except Exception:
        return True
    return False


def find_test(function: str) -> Callable[[Any], None] | None:
    """Return the test of a function; None if there is none."""
    module, _, name = function.partition(".")
    path = f"autograder.benchmark.docstring_tests.test_{module}"
    if importlib.util.find_spec(path) is None:
        return None
    return getattr(importlib.import_module(path), f"test_{name}", None)

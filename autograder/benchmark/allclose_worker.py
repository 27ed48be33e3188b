"""The process in which the plain tests run an implementation. It has no sandbox."""

import importlib
import importlib.util
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from autograder.curriculum import registry


def run_worker(connection: Connection, seconds: float) -> None:
    """Receive functions and sources until the pipe closes; send whether each implementation is wrong.

    Args:
        connection: the pipe.
        seconds: the most time for one implementation, where the system can fork. Elsewhere, the other process counts.
    """
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
        if find_test(function) is None:
            connection.send(None)
        else:
            connection.send(_is_wrong_in_a_copy(function, source, seconds))


def _is_wrong_in_a_copy(function: str, source: str, seconds: float) -> bool:
    """Return whether an implementation is wrong, from a copy of this process: it may change what tests share."""
    if not hasattr(os, "fork"):
        return is_wrong(function, source)
    importlib.import_module(function.partition(".")[0])  # once, not in every copy
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            code = int(is_wrong(function, source))
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def is_wrong(function: str, source: str) -> bool:
    """Return whether the test of a function, which must have one, fails with this implementation."""
    test = find_test(function)
    assert test is not None
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

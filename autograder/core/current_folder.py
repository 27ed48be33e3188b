"""Keep files of the current folder from running with the user's rights: others may have written them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context  # noqa: TID251
from multiprocessing.context import SpawnContext


def python_command(*arguments: str) -> list[str]:
    """Return the command that starts this Python with `arguments`, but without the current folder on its path."""
    return [sys.executable, "-P", *arguments]


def spawn_context() -> SpawnContext:
    """Return multiprocessing's context for processes that start without the current folder on their path."""
    # They and the resource tracker are started with `-c`. The variable stays set: a process may be started at any later
    # time, and in any thread.
    os.environ["PYTHONSAFEPATH"] = "1"
    return get_context("spawn")


@contextmanager
def hidden_matplotlibrc() -> Iterator[None]:
    """Hide the current folder's `matplotlibrc` from an import of matplotlib, which up to 3.10 evaluates code in it."""
    exists = os.path.exists
    os.path.exists = lambda path: path != "matplotlibrc" and exists(path)
    try:
        yield
    finally:
        os.path.exists = exists

"""Versions of the software that a result depends on."""

import platform
from functools import cache
from typing import TypedDict

from autograder import __version__


class Versions(TypedDict):
    """The versions of Headway, Python, NumPy and PyTorch; no PyTorch is None."""

    headway: str
    python: str
    numpy: str
    torch: str | None


def installed_version(package: str) -> str | None:
    """Return the version of a package without importing it, or None if it is not installed."""
    import importlib.metadata  # takes 20 ms, and not every command needs it

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


@cache
def torch_version() -> str | None:
    """Return the installed PyTorch's public version ("2.13.0", not "2.13.0+cpu"), or None."""
    version = installed_version("torch")
    return version and version.partition("+")[0]


def versions() -> Versions:
    """Return the versions of everything that a result depends on."""
    import numpy as np

    python = platform.python_version()
    return {"headway": __version__, "python": python, "numpy": np.__version__, "torch": torch_version()}

"""Versions of the software that a result depends on."""

import platform
from typing import TypedDict

from autograder import __version__


class Versions(TypedDict):
    """The versions of Headway, Python, NumPy and PyTorch; no PyTorch is None."""

    headway: str
    python: str
    numpy: str
    torch: str | None


def torch_version() -> str | None:
    """Return the installed PyTorch's public version ("2.13.0", not "2.13.0+cpu") without importing it, or None."""
    import importlib.metadata  # takes 20 ms, and not every command needs it

    try:
        return importlib.metadata.version("torch").partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def versions() -> Versions:
    """Return the versions of everything that a result depends on."""
    import numpy as np

    python = platform.python_version()
    return {"headway": __version__, "python": python, "numpy": np.__version__, "torch": torch_version()}

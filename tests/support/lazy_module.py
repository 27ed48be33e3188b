"""Import a module where it is first used: PyTorch takes seconds, also in processes that only collect tests."""

import importlib
from typing import Any


class LazyModule:
    """A module that is imported when an attribute of it is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_pytest")):  # pytest looks for fixtures
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)


torch = LazyModule("torch")

"""What diagnosis and promises know of the built-in course, without its package in each call."""

from functools import partial
from importlib import import_module

from autograder.courses.transformer import TRANSFORMER

_MODULES = ("authoring.promises", *(f"engine.diagnosis.{name}" for name in ("mistake", "mutations", "variants")))


def __getattr__(name):
    for module in _MODULES:
        if name in (known := vars(import_module(f"autograder.{module}"))):
            return partial(known[name], package=TRANSFORMER.package)
    raise AttributeError(name)

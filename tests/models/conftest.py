"""Fixtures of the tests of models."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER


@pytest.fixture(scope="module")
def official():
    """Yield a function that imports a module of the official solution; nothing stays imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(bundled("solutions")))
        for name in TRANSFORMER.modules:
            patch.delitem(sys.modules, name, raising=False)
        yield importlib.import_module
        for name in TRANSFORMER.modules:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def official_submission(official):
    """What the code in the student's process has of a submission: its functions."""
    return SimpleNamespace(function=lambda module, name: getattr(official(module), name))

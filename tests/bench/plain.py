"""The same checks as plain pytest: the student's module and PyTorch imported into the test process itself.

This is how graders are usually written, and the benchmarks compare with it. The check modules and the comparisons are
Headway's; only the fixtures differ. The environment variable SUBMISSION names the folder, and FUNCTIONS, if it is set,
the functions whose checks are run.
"""

import builtins
import copy
import importlib
import os
import re
import sys

import numpy as np
import pytest

from autograder.core import wire_format
from autograder.engine.comparison.compare import TOLERANCES
from autograder.engine.fixtures import check_name, function_name, pytest_pycollect_makeitem  # noqa: F401, a hook
from autograder.engine.inputs import RandomInputs

sys.path.insert(0, os.environ.get("SUBMISSION", "."))


def pytest_configure(config):
    config.addinivalue_line("markers", "graded(*functions, points=1): a graded check of each of the functions")


def pytest_collection_modifyitems(items):
    if wanted := os.environ.get("FUNCTIONS"):
        items[:] = [item for item in items if item.get_closest_marker("graded").args[0] in wanted.split(",")]


def submitted(qualified):
    module, _, function = qualified.rpartition(".")
    return getattr(importlib.import_module(module), function)


def official(qualified):
    return submitted(f"autograder.courses.transformer.{qualified.replace('.', '.reference.')}")


def make(value):
    return np.random.default_rng(value.seed) if isinstance(value, wire_format.Rng) else value


def assert_same(actual, expected):
    if isinstance(expected, tuple):
        for mine, theirs in zip(actual, expected, strict=True):
            assert_same(mine, theirs)
    elif isinstance(expected, dict):
        for key in expected.keys() & actual.keys():  # of caches only the entries that both sides have
            if isinstance(expected[key], np.ndarray):
                assert_same(actual[key], expected[key])
    elif isinstance(expected, (np.ndarray, float)):
        tolerance = TOLERANCES.get(np.asarray(actual).dtype, TOLERANCES[np.dtype(np.float64)])
        np.testing.assert_allclose(actual, expected, rtol=tolerance.relative, atol=tolerance.floor * 100)
    else:
        assert actual == expected


def proxy(find):
    """Return the functions that `find` returns by name, as the attributes of modules."""

    class Module:
        def __init__(self, name):
            self.name = name

        def __getattr__(self, function):
            target = find(f"{self.name}.{function}")
            return lambda *args, **kwargs: target(*map(make, args), **{k: make(v) for k, v in kwargs.items()})

    class Proxy:
        calls = ()

        def __getattr__(self, name):
            return Module(name)

        def call(self, qualified, args, kwargs):
            module, _, function = qualified.partition(".")
            return getattr(Module(module), function)(*args, **kwargs)

    return Proxy()


@pytest.fixture
def student():
    return proxy(submitted)


@pytest.fixture
def reference():
    return proxy(official)


@pytest.fixture
def draw(request):
    return RandomInputs(0, f"{function_name(request.node)}::{check_name(request.node)}")


@pytest.fixture
def compare():
    return lambda actual, expected, **options: assert_same(actual, expected)


@pytest.fixture
def agree(request, student, reference):
    def call(*args, tolerance=None, **kwargs):
        actual = student.call(function_name(request.node), args, kwargs)
        expected = reference.call(function_name(request.node), args, kwargs)
        several = isinstance(actual, tuple)
        for mine, right in zip(actual, expected, strict=True) if several else [(actual, expected)]:
            if tolerance is None:
                assert_same(mine, right)
            else:
                np.testing.assert_allclose(mine, right, rtol=tolerance.relative, atol=tolerance.floor)
        return actual

    return call


@pytest.fixture
def stages(request, student, reference):
    def call(*args, **kwargs):
        actual, expected = (side.call(function_name(request.node), args, kwargs)[-1] for side in (student, reference))
        for name, value in expected.items():
            if isinstance(value, np.ndarray):
                assert_same(actual[name], value)

    return call


class Backward:
    def __init__(self, name, student, reference):
        self.forward, self.name = name.removesuffix("_backward"), name
        self.student, self.reference = student, reference

    def __call__(self, dout, *args, on=None, tolerance=None, **kwargs):
        actual = self.student.call(self.name, (dout, on or self.cache(*args, **kwargs)), {})
        cache = self.reference.call(self.forward, args, kwargs)[1]
        expected = self.reference.call(self.name, (dout, cache), {})
        if tolerance is None:
            assert_same(actual, expected)
        else:
            limits = {"rtol": tolerance.relative, "atol": tolerance.floor * 100}
            for name in expected:
                np.testing.assert_allclose(actual[name], expected[name], **limits)

    def cache(self, *args, **kwargs):
        return self.student.call(self.forward, args, kwargs)[1]


@pytest.fixture
def backward(request, student, reference):
    return Backward(function_name(request.node), student, reference)


@pytest.fixture
def unmodified(request, student):
    def call(*args, **kwargs):
        before = copy.deepcopy(args)
        student.call(function_name(request.node), args, kwargs)
        for old, new in zip(before, args, strict=True):
            if isinstance(old, np.ndarray):
                np.testing.assert_array_equal(old, new)

    return call


@pytest.fixture
def refuses(request, student):
    def call(*args, about="", error="ValueError", **kwargs):
        with pytest.raises(getattr(builtins, error), match=re.escape(about) if about else None):
            student.call(function_name(request.node), args, kwargs)

    return call

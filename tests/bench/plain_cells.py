"""Headway's checks in a notebook cell, for nbgrader, with the fixtures of `plain.py`.

from plain_cells import run; run("softmax.softmax", globals())
"""

import inspect

import plain
import pytest

from autograder.course.model import BUILT_IN
from autograder.course.registry import check_files
from autograder.engine.inputs import RandomInputs
from autograder.engine.pytest_plugin import pytest_addoption  # noqa: F401 (the same import cost as in every grader)


def run(qualified, names):
    """Run every check of one function on what the notebook defined."""
    module = qualified.partition(".")[0]
    mine = plain.proxy(lambda name: names[name.partition(".")[2]])
    theirs = plain.proxy(plain.official)
    checks = {}
    for path in check_files(module, BUILT_IN):
        exec(compile(path.read_text("utf-8"), str(path), "exec"), checks)
    for name, check in list(checks.items()):
        marks = {mark.name: mark for mark in getattr(check, "pytestmark", [])}
        if name.startswith("test_") and "graded" in marks and qualified in marks["graded"].args:
            for arguments in _cases(marks.get("parametrize")):
                fixtures = _fixtures(qualified, name, mine, theirs) | arguments
                check(**{key: fixtures[key] for key in inspect.signature(check).parameters})


def _cases(mark):
    if mark is None:
        yield {}
        return
    names = [name.strip() for name in mark.args[0].split(",")] if isinstance(mark.args[0], str) else list(mark.args[0])
    for values in mark.args[1]:
        values = getattr(values, "values", values)
        yield dict(zip(names, values if isinstance(values, tuple) or len(names) > 1 else (values,), strict=True))


def _fixtures(qualified, name, student, reference):
    class Request:
        class node:  # noqa: N801
            @staticmethod
            def get_closest_marker(_):
                return pytest.mark.graded(qualified).mark

    def fixture(function):
        return getattr(function, "__wrapped__", None) or function.__pytest_wrapped__.obj

    request, draw = Request(), RandomInputs(0, f"{qualified}::{name}")
    both = {one: fixture(getattr(plain, one))(request, student, reference) for one in ("agree", "stages", "backward")}
    mine = {one: fixture(getattr(plain, one))(request, student) for one in ("unmodified", "refuses")}
    given = {"student": student, "reference": reference, "draw": draw, "compare": fixture(plain.compare)()}
    return given | both | mine

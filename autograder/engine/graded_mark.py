"""The mark of a graded check: `graded("module.function", points=1)`, and `alone=False` or `alone=True` where needed.

A mark with several functions stands for one check of each.
"""

import inspect

import pytest


def function_name(item: pytest.Item) -> str:
    """Return the qualified name of the function that a check grades; empty if the test is not a graded check."""
    mark = item.get_closest_marker("graded")
    return str(mark.args[0]) if mark else ""


def check_name(item: pytest.Item) -> str:
    """Return the name of a check, which is unique among the checks of its function."""
    return item.name.removesuffix(f"[{function_name(item)}]")


def check_id(item: pytest.Item) -> str:
    """Return the id of a graded check in result documents: `module.function::name`."""
    return f"{function_name(item)}::{check_name(item).removeprefix('test_')}"


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """Make one check for each function if a mark names several."""
    marks = {mark.name: mark for mark in getattr(obj, "pytestmark", ())} if inspect.isfunction(obj) else {}
    if "graded" not in marks or len(marks["graded"].args) < 2:
        return None
    if "parametrize" in marks:
        raise collector.CollectError(f"{name}: a check of several functions cannot be parametrized")
    checks: list[pytest.Item] = []
    for function in marks["graded"].args:
        check = pytest.Function.from_parent(collector, name=f"{name}[{function}]", callobj=obj, originalname=name)
        check.add_marker(pytest.mark.graded(function, **marks["graded"].kwargs), append=False)
        checks.append(check)
    return checks

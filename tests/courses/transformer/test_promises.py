"""What docstrings promise is listed, and each promise has something that breaks it; `headway verify` breaks it."""

import pytest
from support.built_in import broken_source, find_problems, promises_of_module

from autograder.authoring.promises import WRAPPERS
from autograder.courses.transformer import TRANSFORMER

COVERED = [f for f in TRANSFORMER.functions if promises_of_module(f.partition(".")[0])]


@pytest.mark.slow
@pytest.mark.parametrize("function", COVERED)
def test_every_clause_of_a_docstring_is_covered(function):
    assert find_problems(function) == []


def test_promises_name_assigned_functions():
    listed = {name for module in TRANSFORMER.modules for name in promises_of_module(module)}
    assert listed <= set(TRANSFORMER.functions)


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapper_is_valid_python(name):
    compile(broken_source("softmax.softmax", name), name, "exec")

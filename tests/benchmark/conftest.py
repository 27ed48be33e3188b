"""A small data set: all implementations of two functions."""

import pytest
from support.paths import SUBMISSIONS

from autograder.benchmark import dataset

FUNCTIONS = ("softmax.softmax", "layernorm.rmsnorm")


@pytest.fixture(scope="session")
def items():
    return dataset.implementations(SUBMISSIONS, FUNCTIONS)


@pytest.fixture
def small_file(items, tmp_path):
    """A file with a right and three wrong implementations, and some others as candidates."""
    path = tmp_path / "small.jsonl"
    path.write_bytes(dataset.lines(items))
    return path

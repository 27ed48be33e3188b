"""Fixtures of the workspace tests."""

import pytest

from autograder.workspace.workspace import Workspace


@pytest.fixture
def workspace(folder):
    return Workspace.open(folder)

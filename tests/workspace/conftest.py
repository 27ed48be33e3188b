"""Fixtures of the workspace tests."""

import pytest

from autograder.courses.transformer import TRANSFORMER
from autograder.workspace import create
from autograder.workspace.workspace import Workspace


@pytest.fixture
def folder(tmp_path):
    """A new workspace's folder."""
    create.create(tmp_path / "w", TRANSFORMER)
    return tmp_path / "w"


@pytest.fixture
def workspace(folder):
    return Workspace.open(folder)

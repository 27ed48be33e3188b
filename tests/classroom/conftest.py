"""Classes that are graded in this process."""

import pytest
from support.softmax_class import InProcessPool

from autograder.classroom import grade


@pytest.fixture
def grading_in_process(monkeypatch):
    """Grade without grading processes."""
    monkeypatch.setattr(grade, "WorkerPool", InProcessPool)

"""Fail the tests of the sandbox where HEADWAY_REQUIRE_SANDBOX is set and the strongest level does not work.

Without that variable, they try the levels that the machine has, and skip the others.
"""

import functools
import os
import tempfile
from pathlib import Path

import pytest

from autograder.sandbox import probe


@functools.cache
def missing() -> str:
    """Return what the strongest level lacks here; empty if it works."""
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        proven, problems = probe.prove(probe.LEVELS[0], Path(folder))
    return "" if proven else "; ".join(f"{name}: {problem}" for name, problem in problems.items())


def skip_without_sandbox(folder: Path) -> None:
    """Skip a test on a machine that has no level of the sandbox."""
    try:
        probe.strongest_level(folder)
    except probe.SandboxUnavailable as error:
        pytest.skip(f"this machine has no sandbox: {error}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if os.environ.get("HEADWAY_REQUIRE_SANDBOX") and item.get_closest_marker("sandbox") and missing():
        pytest.fail(f"HEADWAY_REQUIRE_SANDBOX is set, but this machine has no complete sandbox ({missing()})", False)

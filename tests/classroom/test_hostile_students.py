"""A class with hostile students: the honest ones get what they get without them."""

import sys

import pytest
from support import mixed_class

from autograder.sandbox import probe

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux"),
]


def test_honest_results_are_the_same_with_hostile_students(tmp_path):
    try:
        probe.strongest_level(tmp_path)
    except probe.SandboxUnavailable as error:
        pytest.skip(f"this machine has no sandbox: {error}")
    alone = mixed_class.grade(tmp_path / "alone", 20, 0)
    mixed = mixed_class.grade(tmp_path / "mixed", 20, 6)
    assert len({str(document["points"]) for document in alone.documents.values()}) > 2  # right and wrong ones
    assert mixed.documents == alone.documents and mixed.sprung == () and len(mixed.hostile_points) == 6
    assert 0 < mixed.process_mib < 1024

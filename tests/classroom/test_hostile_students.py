"""A class with hostile students: the honest ones get what they get without them."""

import sys

import pytest
from support import mixed_class
from support.required_sandbox import skip_without_sandbox

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux"),
]


def test_honest_results_are_the_same_with_hostile_students(tmp_path):
    skip_without_sandbox(tmp_path)
    alone = mixed_class.grade(tmp_path / "alone", 20, 0)
    mixed = mixed_class.grade(tmp_path / "mixed", 20, 6)
    assert len({str(document["points"]) for document in alone.documents.values()}) > 2  # right and wrong ones
    assert mixed.documents == alone.documents and mixed.sprung == () and len(mixed.hostile_points) == 6
    assert 0 < mixed.process_mib < 1024

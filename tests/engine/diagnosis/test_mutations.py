"""Mutations of the official solutions."""

import pytest
from support.built_in import mutations

from autograder.courses.transformer import TRANSFORMER
from autograder.engine.diagnosis.mistake import CONSTANT


@pytest.mark.parametrize("function", TRANSFORMER.functions)
def test_mutated_number_is_no_size(function):
    """An array or a loop of 10¹² steps would use up the memory of the grader, or its time."""
    for mistake in mutations(function):
        for _, new in mistake.edits:
            for call in ("arange(", "zeros(", "ones(", "empty(", "range(", "// "):
                before, found, after = new.partition(call)
                assert not found or CONSTANT not in after.partition(")" if call.endswith("(") else " ")[0], (
                    before,
                    after,
                )

"""Comparison of answers in the search for mistakes."""

import numpy as np
import pytest

from autograder.engine.diagnosis.matching import Match, Part, is_distinctive, match_parts


@pytest.mark.parametrize("answer", [([1.0, 2.0], 3.0), [np.zeros((2, 3)), np.zeros(4)], None, "text"])
def test_is_distinctive_of_no_array_is_false(answer):
    assert not is_distinctive(answer, np.zeros(4))


@pytest.mark.parametrize(("names", "match"), [
    (("weights", "out"), Match.IN_PART), (("params['a']", "params['b']"), Match.NO),
])  # fmt: skip
def test_match_parts_explains_first_stage_but_not_one_entry_of_a_dict(names, match):
    right = np.zeros(4)
    first = Part(names[0], right + 1, right + 1, right)
    second = Part(names[1], right + 2, right + 3, right)
    assert match_parts([first, second]).match is match

"""Comparison of answers in the search for mistakes."""

import numpy as np
import pytest

from autograder.engine.diagnosis.matching import is_distinctive


@pytest.mark.parametrize("answer", [([1.0, 2.0], 3.0), [np.zeros((2, 3)), np.zeros(4)], None, "text"])
def test_is_distinctive_of_no_array_is_false(answer):
    assert not is_distinctive(answer, np.zeros(4))

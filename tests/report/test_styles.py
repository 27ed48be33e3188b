"""The terminal's colors are readable on white and on black."""

import pytest
from support.contrast import contrast

from autograder.report import styles

COLORS = {name: value for name, value in vars(styles).items() if name.isupper()}


@pytest.mark.parametrize("name", COLORS)
def test_colour_contrasts_with_white_and_black(name):
    assert contrast(COLORS[name], "#ffffff") >= 3
    assert contrast(COLORS[name], "#000000") >= 3

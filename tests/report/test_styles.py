"""The terminal's colours are readable on white and on black."""

import pytest
from support.contrast import contrast

from autograder.report import styles

COLOURS = {name: value for name, value in vars(styles).items() if name.isupper()}


@pytest.mark.parametrize("name", COLOURS)
def test_colour_contrasts_with_white_and_black(name):
    assert contrast(COLOURS[name], "#ffffff") >= 3
    assert contrast(COLOURS[name], "#000000") >= 3

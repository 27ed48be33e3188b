"""The terminal's colours are readable on white and on black."""

import pytest

from autograder.report import styles

COLOURS = {name: value for name, value in vars(styles).items() if name.isupper()}


def luminance(colour):
    """Relative luminance of sRGB, as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_luminance_of_known_colours():
    assert luminance("#ffffff") == pytest.approx(1)
    assert luminance("#777777") == pytest.approx(0.184, abs=1e-3)  # 4.5 to 1 on white


@pytest.mark.parametrize("name", COLOURS)
def test_colour_contrasts_with_white_and_black(name):
    light = luminance(COLOURS[name])
    assert 1.05 / (light + 0.05) >= 3
    assert (light + 0.05) / 0.05 >= 3

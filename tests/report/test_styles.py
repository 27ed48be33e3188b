"""The terminal's colors are readable on white and on black, and signs in the cells of pages on their colors."""

import re

import pytest
from support.contrast import contrast
from support.paths import ROOT

from autograder.report import styles

COLORS = {name: value for name, value in vars(styles).items() if name.isupper()}


@pytest.mark.parametrize("name", COLORS)
def test_colour_contrasts_with_white_and_black(name):
    assert contrast(COLORS[name], "#ffffff") >= 3
    assert contrast(COLORS[name], "#000000") >= 3


def test_signs_of_cells_contrast_with_their_color():
    styles_of_page = (ROOT / "autograder/report/html/page.css").read_text("utf-8")
    light, _, dark = styles_of_page.partition("@media (prefers-color-scheme: dark)")
    rule = r"((?:\.s-\w, )*\.s-\w) \{ color: var\(--paper\); \} \.s-b \{ color: (#\w+)"
    on_paper, rest = re.search(rule, light + dark).groups()
    for scheme in (light, dark.partition("* {")[0]):
        colors = dict(re.findall(r"--(\w+): (#\w{6})", scheme))
        for letter in "pfetbnxmuwi":
            sign = rest if letter == "b" else colors["paper" if f".s-{letter}" in on_paper else "ink"]
            assert contrast(sign, colors[letter]) >= 4.5, letter
        # Those who see no hue tell what passed from what failed by its lightness.
        assert contrast(colors["p"], colors["f"]) >= 1.8 and contrast(colors["f"], colors["e"]) >= 1.5

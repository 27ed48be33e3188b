"""The plots that `headway plot` can draw."""

import difflib

from autograder.course import Plot
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

PLOTS = TRANSFORMER.plots


def find_plot(name: str) -> Plot:
    """Return the plot with this name."""
    if name not in PLOTS:
        close = difflib.get_close_matches(name, PLOTS, n=1, cutoff=0.4)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise UsageError(f"no such plot: {name!r}. {hint}List them all: headway plot")
    return PLOTS[name]

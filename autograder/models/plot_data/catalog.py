"""The plots that `headway plot` can draw."""

from autograder.core.text import did_you_mean
from autograder.course import Plot
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError

PLOTS = TRANSFORMER.plots


def find_plot(name: str) -> Plot:
    """Return the plot with this name."""
    if name not in PLOTS:
        raise UsageError(f"no such plot: {name!r}. {did_you_mean(name, PLOTS, 0.4)}List them all: headway plot")
    return PLOTS[name]

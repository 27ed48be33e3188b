"""Draw the pictures in the lessons of the built-in course, which its `figures.py` describe: `make figures`."""

from functools import partial
from importlib import import_module

from autograder.course import Plot
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.drawing.function_caller import FunctionCaller, Picture
from autograder.models.lesson_figures.trained import tables
from autograder.models.plot_data import find_plot
from autograder.models.plots import draw
from autograder.models.plots.inputs import PlotInputs


def pictures() -> dict[str, Picture]:
    """Return every picture by the name of its file: the FIGURES of a `figures.py`, and the plots that are PLOTTED."""
    found: dict[str, Picture] = {}
    for module in TRANSFORMER.modules:
        figures = import_module(f"{TRANSFORMER.package}.{module}.figures")
        found |= figures.FIGURES
        found |= {name: partial(_plot, find_plot(name)) for name in getattr(figures, "PLOTTED", ())}
    return found


def _plot(plot: Plot, functions: FunctionCaller) -> str:
    return small_svg(draw(plot, PlotInputs(functions, load_model=tables)))

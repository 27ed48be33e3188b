"""Plots of what the functions of the course compute, drawn from the student's own functions: `headway plot NAME`.

`plot_data` lists the plots. Each is drawn by a function of a `Plot` and its `PlotInputs`, imported only when needed.
"""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autograder.core.files import report_write_error, write_atomically
from autograder.core.output_files import require_replaceable
from autograder.core.safe_output import echo
from autograder.course import FIGURES, Plot
from autograder.course.stubs import bundled
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller, FunctionNotWritten
from autograder.errors import UsageError
from autograder.models.plot_data import find_plot, functions_in_folder
from autograder.models.plots.inputs import PlotInputs, functions_in_namespace
from autograder.models.pretrained.model_file import load


def draw(plot: Plot, inputs: PlotInputs) -> Any:
    """Return the plot: a matplotlib figure, or the text of an HTML page.

    Raises UsageError if a function that it needs is missing, fails or returns something that cannot be drawn; if there
    is no checkpoint where one is needed; if matplotlib is not installed.
    """
    module, _, function = (plot.entry_point if plot.trained else "panels:draw").partition(":")
    if plot.suffixes == FIGURES:
        figure.require_matplotlib()  # before any student function runs
    return getattr(importlib.import_module(f"{__name__}.{module}"), function)(plot, inputs)


def write(plot: Plot, draw_it: Callable[[], Any], path: Path, *, force: bool = False) -> None:
    """Write what `draw_it` returns, a figure or the text of a page, in the format of the path's suffix.

    An earlier plot is replaced. Raises UsageError if another file is in its place, unless `force` replaces that, too.
    """
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in plot.suffixes:
        formats = " or ".join(f".{suffix}" for suffix in plot.suffixes)
        another = f"Name such a file: --out {plot.name}.{plot.suffixes[0]}"
        raise UsageError(f"{path}: {plot.name} is written as {formats}. {another}")
    require_replaceable(path, figure.is_plot, "a plot of Headway", option="--out FILE", force=force)
    drawn = draw_it()
    content = drawn.encode("utf-8") if isinstance(drawn, str) else figure.to_bytes(drawn, suffix)
    with report_write_error(path, "Name another file: --out FILE"):
        write_atomically(path, content)


class NotebookFigure:
    """A plot in a notebook: Jupyter displays it as PNG, and `figure` can be changed further."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def _repr_png_(self) -> bytes:
        return figure.to_bytes(self.figure, "png")


def show(
    name: str, namespace: Mapping[str, Any], checkpoint: str = "model.safetensors", text: str | None = None
) -> NotebookFigure | None:
    """Draw a plot in a notebook from the functions defined there; if that fails, print why and return None.

    Where a function is not written yet, the official solution is used, and a printed line says so.

    Args:
        name: the plot's name, as in `headway plot`.
        namespace: `globals()` of the notebook.
        checkpoint: the trained model, for plots that show one.
        text: the text to show, for plots that show one.
    """

    def draw_with(functions: FunctionCaller) -> NotebookFigure:
        plot = find_plot(name)
        if plot.suffixes != FIGURES:
            raise UsageError(f"{name} is a page for a browser. Write it with: headway plot {name}")
        return NotebookFigure(draw(plot, PlotInputs(functions, text, lambda: load(Path(checkpoint)))))

    try:
        try:
            return draw_with(functions_in_namespace(namespace))
        except FunctionNotWritten as error:
            reason = f"{error.function} is not written yet. Write it, then run this cell again."
            echo(f"Drawn with the official solution: {reason}")
        with functions_in_folder(bundled("solutions")) as functions:
            return draw_with(functions)
    except UsageError as error:
        echo(error)
        return None

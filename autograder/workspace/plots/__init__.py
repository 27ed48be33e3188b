"""Plots of what the functions of the course compute, drawn from the student's own functions: `headway plot NAME`.

`catalog` lists the plots. Each is drawn by a function of a `PlotInputs` (the student's functions, a text, a trained
model), which returns a matplotlib figure or a page of HTML. The modules that draw are imported only when needed.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.core.files import write_atomically
from autograder.errors import UsageError
from autograder.workspace.plots import figure
from autograder.workspace.plots.catalog import FIGURES, Plot, find_plot

if TYPE_CHECKING:
    from autograder.workspace.plots.inputs import FunctionCaller, PlotInputs


def draw(plot: Plot, inputs: "PlotInputs") -> Any:
    """Return the plot: a matplotlib figure, or the text of an HTML page.

    Raises:
        UsageError: if a function that it needs is missing, fails or returns something that cannot be drawn; if there is
            no checkpoint where one is needed; if matplotlib is not installed.
    """
    module, _, function = plot.entry_point.partition(":")
    if plot.suffixes == FIGURES:
        figure.require_matplotlib()  # before any student function runs
    return getattr(importlib.import_module(f"{__name__}.{module}"), function)(plot, inputs)


def write(plot: Plot, inputs: "PlotInputs", path: Path) -> None:
    """Draw the plot and write it to `path`, in the format of its suffix."""
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in plot.suffixes:
        formats = " or ".join(f".{suffix}" for suffix in plot.suffixes)
        raise UsageError(
            f"{path}: {plot.name} is written as {formats}. Name such a file: --out {plot.name}.{plot.suffixes[0]}"
        )
    drawn = draw(plot, inputs)
    content = drawn.encode("utf-8") if isinstance(drawn, str) else figure.to_bytes(drawn, suffix)
    try:
        write_atomically(path, content)
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror}). Name another file: --out FILE") from None


class NotebookFigure:
    """A plot in a notebook: Jupyter displays it as PNG, and `figure` can be changed further."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def _repr_png_(self) -> bytes:
        return figure.to_bytes(self.figure, "png")


def show(
    name: str, namespace: Mapping[str, Any], checkpoint: str = "model.safetensors", text: str | None = None
) -> NotebookFigure | None:
    """Draw a plot in a notebook from the functions defined there.

    Where a function is not written yet, the official solution is used, and a printed line says so.

    Args:
        name: the plot's name, as in `headway plot`.
        namespace: `globals()` of the notebook.
        checkpoint: the trained model, for plots that show one.
        text: the text to show, for plots that show one.

    Returns:
        The plot; None if it cannot be drawn, after printing why.
    """
    from autograder.curriculum.stubs import bundled
    from autograder.workspace.plots.inputs import (
        FunctionNotWritten,
        PlotInputs,
        functions_in_folder,
        functions_in_namespace,
    )
    from autograder.workspace.training.checkpoint import load

    def draw_with(functions: "FunctionCaller") -> NotebookFigure:
        plot = find_plot(name)
        if plot.suffixes != FIGURES:
            raise UsageError(f"{name} is a page for a browser. Write it with: headway plot {name}")
        return NotebookFigure(draw(plot, PlotInputs(functions, text, lambda: load(Path(checkpoint)))))

    try:
        try:
            return draw_with(functions_in_namespace(namespace))
        except FunctionNotWritten as error:
            print(
                f"Drawn with the official solution: {error.function} is not written yet. "
                "Write it, then run this cell again."
            )
        with functions_in_folder(bundled("solutions")) as functions:
            return draw_with(functions)
    except UsageError as error:
        print(error)
        return None

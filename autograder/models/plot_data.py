"""The plots of the course by name, and those that need no trained model as data. Nothing is drawn here.

The `plots.py` of an assignment computes the panels. `static/plot.js` draws them on a lesson page, where there is no
matplotlib, and `plots/panels.py` for `headway plot`.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypedDict

from autograder.core.text import clean, did_you_mean
from autograder.course import Plot
from autograder.courses.transformer import TRANSFORMER
from autograder.drawing.function_caller import FunctionCaller, FunctionNotWritten, NotDrawable
from autograder.drawing.panels import Panel, Panels
from autograder.engine.student import StudentCode
from autograder.errors import UsageError
from autograder.sandbox.limits import Limits
from autograder.sandbox.policy import NO_SANDBOX
from autograder.sandbox.process import start_workers
from autograder.sandbox.workers import StartWorkers

PLOTS = TRANSFORMER.plots


class PlotData(TypedDict):
    """A plot: its title, what to look for, and panels, of which `columns` stand side by side where there is room."""

    title: str
    note: str
    columns: int
    panels: list[Panel]


def find_plot(name: str) -> Plot:
    """Return the plot with this name."""
    if name not in PLOTS:
        raise UsageError(f"no such plot: {name!r}. {did_you_mean(name, PLOTS, 0.4)}List them all: headway plot")
    return PLOTS[name]


@contextmanager
def functions_in_folder(folder: Path, start: StartWorkers = start_workers) -> Iterator[FunctionCaller]:
    """Provide the functions of a submission, which run in a process of their own, or where `start` makes them run."""
    with (
        start(NO_SANDBOX) as workers,
        closing(StudentCode(workers, folder, TRANSFORMER, Limits.for_training(60.0))) as student,
    ):
        yield FunctionCaller(student.call)


def plots_of(module: str) -> list[dict[str, Any]]:
    """Return the plots of an assignment that need no trained model: name, title, and functions that compute it."""
    plots = (plot for plot in TRANSFORMER.modules[module].plots if not plot.trained)
    return [{"name": plot.name, "title": plot.title, "functions": [*plot.needs]} for plot in plots]


def draw(name: str, functions: FunctionCaller) -> PlotData:
    """Return a plot that these functions compute.

    Raises UsageError, in one line, if there is no such plot, or if a function that it needs is not written or wrong.
    """
    plot = find_plot(name)
    if plot.trained:
        raise UsageError(f"{name} shows a trained model. Draw it in a terminal: headway plot {name}")
    try:
        columns, drawn = panels_of(plot, functions)
    except FunctionNotWritten as error:
        raise UsageError(f"The plot needs {error.function}, which is not written yet.") from None
    except NotDrawable as error:
        problem = clean(error.problem, 300)
        raise UsageError(f"{problem}. Check {error.function} first.") from None
    return {"title": plot.title, "note": plot.caption, "columns": columns, "panels": drawn}


def panels_of(plot: Plot, functions: FunctionCaller, text: str | None = None) -> Panels:
    """Return the panels of a plot that needs no trained model; `text` is what is shown by the one that shows a text."""
    module, _, function = plot.entry_point.partition(":")
    compute: Callable[[FunctionCaller, str | None], Panels]
    compute = getattr(importlib.import_module(f"{TRANSFORMER.package}.{module}"), function)
    return compute(functions, text)

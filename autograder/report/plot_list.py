"""The available plots as a table, for `headway plot` without a name."""

from collections.abc import Iterable
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.curriculum import Curriculum


class ListedPlot(Protocol):
    """A plot as the table shows it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def trained(self) -> bool: ...  # noqa: D102
    @property
    def module(self) -> str: ...  # noqa: D102


def render(plots: Iterable[ListedPlot], curriculum: Curriculum, console: Console) -> None:
    """Print the name and title of each plot below its assignment."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    by_module: dict[str, list[ListedPlot]] = {}
    for plot in plots:
        by_module.setdefault(plot.module, []).append(plot)
    for assignment in curriculum.assignments:
        if assignment.module in by_module:
            table.add_row(Text(str(assignment.number), "bold"), Text(assignment.module, "bold"), "")
        for plot in by_module.get(assignment.module, []):
            model = " (trained model)" if plot.trained else ""
            table.add_row("", Text(f"  {plot.name}"), Text(plot.title + model, "dim"))
    console.print(table)
    console.print(
        Text(
            "\nDraw one with your own functions: headway plot NAME. To use the official ones, add --solution.\n"
            "Plots of a trained model need a checkpoint from headway train: --checkpoint model.safetensors"
        )
    )

"""The pictures that there are, as a table: `headway plot` without a name."""

from collections.abc import Iterable
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.curriculum import Curriculum


class ListedPlot(Protocol):
    """What the table shows of a picture."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def trained(self) -> bool: ...  # noqa: D102
    @property
    def module(self) -> str: ...  # noqa: D102


def render(pictures: Iterable[ListedPlot], curriculum: Curriculum, console: Console) -> None:
    """Print name and title of each picture under the assignment that it belongs to."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    by_module: dict[str, list[ListedPlot]] = {}
    for picture in pictures:
        by_module.setdefault(picture.module, []).append(picture)
    for assignment in curriculum.assignments:
        found = by_module.get(assignment.module, [])
        if found:
            table.add_row(Text(str(assignment.number), "bold"), Text(assignment.module, "bold"), "")
        for picture in found:
            model = " (trained model)" if picture.trained else ""
            table.add_row("", Text(f"  {picture.name}"), Text(picture.title + model, "dim"))
    console.print(table)
    console.print(
        Text(
            "\nDraw one with your own functions: headway plot NAME. With the official ones: add --solution.\n"
            "Those of a trained model need a checkpoint of headway train: --checkpoint model.safetensors"
        )
    )

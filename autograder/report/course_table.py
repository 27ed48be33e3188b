"""Names and texts by assignment, as a table: `headway list --terms`, and `headway plot` without a name."""

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from autograder.course import Curriculum
from autograder.report.styles import grid


def render(texts: Mapping[str, Mapping[str, str]], curriculum: Curriculum, console: Console) -> None:
    """Print each name and its text (`texts[assignment][name]`), below the assignment that it belongs to."""
    table = grid("right", "left", "fold")
    for assignment in curriculum.assignments:
        if of_assignment := texts.get(assignment.module):
            number, module = Text(str(assignment.number), "bold"), Text(assignment.module, "bold")
            table.add_row(number, module, Text(assignment.title, "dim"))
            for name, text in of_assignment.items():
                table.add_row("", Text(f"  {name}"), Text(text))
    console.print(table)

"""The words of a course as a table, for `headway list --terms`."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.curriculum import Curriculum


def render(words: Mapping[str, Mapping[str, str]], curriculum: Curriculum, console: Console) -> None:
    """Print each word and what it means, under the assignment whose lesson introduces it."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for module, meanings in words.items():
        assignment = curriculum.modules[module]
        table.add_row(Text(str(assignment.number), "bold"), Text(module, "bold"), Text(assignment.title, "dim"))
        for word, meaning in meanings.items():
            table.add_row("", Text(f"  {word}"), Text(meaning))
    console.print(table)

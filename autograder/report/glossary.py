"""The glossary of a course as a table, for `headway list --terms`."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.curriculum import Curriculum


def render(terms: Mapping[str, Mapping[str, str]], curriculum: Curriculum, console: Console) -> None:
    """Print each term and its meaning, below the assignment whose lesson introduces it.

    Args:
        terms: meaning by term, by assignment.
    """
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for module, meanings in terms.items():
        assignment = curriculum.modules[module]
        table.add_row(Text(str(assignment.number), "bold"), Text(module, "bold"), Text(assignment.title, "dim"))
        for term, meaning in meanings.items():
            table.add_row("", Text(f"  {term}"), Text(meaning))
    console.print(table)

"""The results of `headway doctor` in the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report.check_report import STATUS_STYLES


@dataclass(frozen=True)
class Diagnostic:
    """The result of examining one part of this machine.

    Attributes:
        name: the part.
        ok: whether it works.
        text: its state.
        fix: the command or step that fixes it.
        optional: whether Headway works without it.
    """

    name: str
    ok: bool
    text: str
    fix: str = ""
    optional: bool = False


def render(diagnostics: Sequence[Diagnostic], console: Console) -> None:
    """Print one line for each part and, below a part that does not work, the step that fixes it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for diagnostic in diagnostics:
        status = "passed" if diagnostic.ok else "blocked" if diagnostic.optional else "failed"
        mark, style = STATUS_STYLES[status]
        table.add_row(Text(mark, style), Text(diagnostic.name), Text(diagnostic.text))
        if not diagnostic.ok:
            table.add_row("", "", Text(f"→ {diagnostic.fix}", style))
    console.print(table)
    broken = [diagnostic.name for diagnostic in diagnostics if not diagnostic.ok and not diagnostic.optional]
    console.print(Text(f"\nFix this first: {', '.join(broken)}." if broken else "\nEverything required works."))

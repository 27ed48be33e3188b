"""The doctor's findings in the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report.check_report import STATUS_STYLES


@dataclass(frozen=True)
class Diagnostic:
    """One thing that was examined.

    Attributes:
        name: what was looked at.
        ok: whether it is as it should be.
        text: how it is.
        fix: the command or step that mends it.
        optional: the kit works without it.
    """

    name: str
    ok: bool
    text: str
    fix: str = ""
    optional: bool = False


def render(found: Sequence[Diagnostic], console: Console) -> None:
    """Print one line per finding, and beneath what is wrong the step that mends it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in found:
        status = "passed" if finding.ok else "blocked" if finding.optional else "failed"
        mark, style = STATUS_STYLES[status]
        table.add_row(Text(mark, style), Text(finding.name), Text(finding.text))
        if not finding.ok:
            table.add_row("", "", Text(f"→ {finding.fix}", style))
    console.print(table)
    needed = [finding for finding in found if not finding.ok and not finding.optional]
    console.print(
        Text("\nEverything that is needed is here." if not needed else "\nSomething that is needed is missing.")
    )

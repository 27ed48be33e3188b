"""The results of `headway doctor` in the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from autograder.report.check_report import STATUS_STYLES
from autograder.report.styles import grid


@dataclass(frozen=True)
class Diagnostic:
    """The state of one part of this machine."""

    name: str
    ok: bool
    text: str
    fix: str = ""  # the command or step that fixes it
    optional: bool = False  # whether Headway works without it


def render(diagnostics: Sequence[Diagnostic], console: Console) -> None:
    """Print one line for each part and, below a part that does not work, the step that fixes it."""
    table = grid("left", "left", "fold")
    for diagnostic in diagnostics:
        mark, style = STATUS_STYLES["passed" if diagnostic.ok else "blocked" if diagnostic.optional else "failed"]
        table.add_row(Text(mark, style), Text(diagnostic.name), Text(diagnostic.text))
        if not diagnostic.ok:
            table.add_row("", "", Text(f"→ {diagnostic.fix}", style))
    console.print(table)
    broken = [diagnostic.name for diagnostic in diagnostics if not diagnostic.ok and not diagnostic.optional]
    console.print(Text(f"\nFix this first: {', '.join(broken)}." if broken else "\nEverything required works."))

"""What `headway verify` found, in the terminal."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from autograder.report.check_report import STATUS_STYLES

WORDS = {
    "solutions": "solutions pass",
    "stubs": "stubs are not started",
    "right answer": "right answers pass",
    "mistake": "mistakes are caught and named",
}


def render(findings: Iterable[Any], total: int, console: Console) -> list[Any]:
    """Show progress while findings come in, then what is not as it should be, and the counts."""
    found: list[Any] = []
    columns = (TextColumn("verifying"), BarColumn(), TextColumn("{task.completed} found, {task.fields[wrong]} wrong"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total, wrong=0)
        for finding in findings:
            found.append(finding)
            progress.update(task, advance=1, wrong=sum(not one.ok for one in found))
    for finding in found:
        if not finding.ok:
            mark, style = STATUS_STYLES["failed"]
            console.print(Text.assemble((f"{mark} ", style), f"{finding.kind} {finding.name}: {finding.text}"))
    table = Table.grid(padding=(0, 2))
    for kind, words in WORDS.items():
        group = [finding for finding in found if finding.kind == kind]
        good = sum(finding.ok for finding in group)
        mark, style = STATUS_STYLES["passed" if good == len(group) else "failed"]
        table.add_row(Text(mark, style), Text(f"{good} of {len(group)}"), Text(words))
    console.print(table)
    return found

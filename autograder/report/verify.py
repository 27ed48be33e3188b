"""The results of `headway verify` in the terminal."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from autograder.core.text import counted
from autograder.report.check_report import STATUS_STYLES
from autograder.report.styles import grid

KIND_WORDS = {
    "answers": "shipped answers are current",
    "solutions": "solutions pass",
    "stubs": "stubs are not started",
    "right answer": "right answers pass",
    "mistake": "mistakes are caught and recognized",
    "docstring": "docstrings are covered by promises and descriptions",
    "promise": "broken promises fail a check",
}


def render(findings: Iterable[Any], total: int, console: Console) -> list[Any]:
    """Show progress while findings arrive, then the failures and the counts, and return the findings."""
    collected: list[Any] = []
    columns = (TextColumn("verifying"), BarColumn(), TextColumn("{task.completed} done, {task.fields[failed]} failed"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total, failed=0)
        for finding in findings:
            collected.append(finding)
            progress.update(task, advance=1, failed=sum(not finding.ok for finding in collected))
    for finding in collected:
        if not finding.ok:
            mark, style = STATUS_STYLES["failed"]
            subject = f"{finding.kind} {finding.name}: " if finding.name else ""
            console.print(Text.assemble((f"{mark} ", style), f"{subject}{finding.text}"), soft_wrap=True)
    table = grid("left", "left", "left")
    if rules := [finding for finding in collected if finding.kind == "rule"]:
        console.print(f"{counted(len(rules), 'broken rule')}. Nothing else was verified: fix this first.")
    for kind, words in KIND_WORDS.items():
        group = [finding for finding in collected if finding.kind == kind]
        if not group:
            continue
        passed = sum(finding.ok for finding in group)
        mark, style = STATUS_STYLES["passed" if passed == len(group) else "failed"]
        table.add_row(Text(mark, style), Text(f"{passed} of {len(group)}"), Text(words))
    console.print(table)
    return collected


def render_promises(findings: Iterable[Any], console: Console) -> None:
    """Show the promises of each function: what breaks each, and the first check that fails."""
    function = ""
    for finding in sorted((finding for finding in findings if finding.kind == "promise"), key=lambda f: f.name):
        name, _, text = finding.name.partition(": ")
        if name != function:
            function = name
            console.print(Text(function, "bold"), soft_wrap=True)
        guard = finding.guards[0].partition("::")[2] if finding.guards else "no check"
        others = f" and {len(finding.guards) - 1} more" if len(finding.guards) > 1 else ""
        console.print(Text(f"  {text}: broken by {finding.broken_by}, fails {guard}{others}"), soft_wrap=True)


def render_changes(findings: Iterable[Any], console: Console) -> None:
    """Show how many of the wrong changes that rules derive fail a check, and the others."""
    changes = [finding for finding in findings if finding.kind == "change"]
    missed = [finding.name for finding in changes if not finding.guards]
    console.print(
        f"{len(changes) - len(missed)} of {counted(len(changes), 'wrong change')} that rules derive fail a check."
    )
    if missed:
        console.print("No check fails with these. Each needs one, unless it makes no difference:")
    for name in missed:
        console.print(Text(f"  {name}"), soft_wrap=True)

"""The class in the terminal: progress while it is graded, and the table afterwards."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from autograder.report.terminal import STYLES, WORDS
from autograder.results import Summary

MAX_ROWS = 60


@contextmanager
def live(console: Console) -> Iterator[Callable[[int, Summary], None]]:
    """A progress bar with rate and time left; a function to tell it about each submission. Silent in a pipe."""
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def seen(total: int, row: Summary) -> None:
            progress.update(task, total=total, advance=1, description="")

        yield seen


def warn_of_no_sandbox(console: Console) -> None:
    """A banner that cannot be overlooked: the code that is about to run may do whatever its reader may do."""
    text = "No sandbox: submissions can read your files, use your network and change each other's results."
    console.print(Panel(Text(text), title=Text("--unsafe-no-sandbox"), border_style=STYLES["failed"][1], expand=False))


def render(rows: Sequence[Summary], seed: int, out: Path, console: Console) -> None:
    """Print the table of the class, the mean, and where the results lie."""
    console.print(Text.assemble("\n", ("Headway", "bold"), f" · {len(rows)} submissions · seed {seed}\n"))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("submission", overflow="ellipsis", no_wrap=True, max_width=28)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("checks", overflow="fold")
    for row in rows[:MAX_ROWS]:
        share = row.earned / row.possible if row.possible else 0.0
        table.add_row(Text(row.name), Text(f"{row.earned:g} / {row.possible:g}"), _bar(share), _counts(row))
    console.print(table)
    if len(rows) > MAX_ROWS:
        console.print(Text(f"… and {len(rows) - MAX_ROWS} more", "dim"))
    mean = sum(row.earned for row in rows) / len(rows) if rows else 0.0
    seconds = sum(row.seconds for row in rows)
    console.print(Text(f"\nMean {mean:.1f} points · {seconds:.1f} s · results in {out}: grades.csv, results/*.json"))


def _bar(share: float) -> Text:
    filled = round(share * 10)
    return Text.assemble(("█" * filled, STYLES["passed"][1]), ("░" * (10 - filled), "dim"))


def _counts(row: Summary) -> Text:
    text = Text()
    for status, (mark, style) in STYLES.items():
        if row.statuses.get(status) and (status != "passed" or len([v for v in row.statuses.values() if v]) == 1):
            text.append(f"{', ' if text else ''}{mark} {row.statuses[status]} {WORDS[status]}", style)
    for note in [*row.notes, *row.problems]:
        text.append(f"\n{note}", STYLES["error"][1])
    return text

"""The results of `headway score-benchmark` in the terminal."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from autograder.core.text import clean, counted
from autograder.report.check_report import STATUS_STYLES
from autograder.report.styles import grid

MAX_LINES = 10  # of each kind of problem
COLUMNS = (("wrong found", "found", "wrong"), ("right accepted", "accepted", "right"), ("named", "named", "nameable"))


@contextmanager
def progress(total: int, console: Console) -> Iterator[Callable[[], object]]:
    """Show progress on a terminal; yield what to call after each answer."""
    columns = (TextColumn("asking"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


def render(document: dict[str, Any], console: Console) -> None:
    """Print the scores by assignment and in total, then what has no answer and what was no answer."""
    table = grid("left", "right", "right", "right", "right", "right", "right")
    table.add_row("", *(Text(text, "dim") for title, _, _ in COLUMNS for text in (title, "")))
    for name, score in document["by_assignment"].items():
        table.add_row(clean(name, 40), *_cells(score))
    table.add_row(Text("all", "bold"), *(Text(cell, "bold") for cell in _cells(document["total"])))
    console.print(table)
    console.print(Text(_what_was_asked(document), "dim"))
    missing = Counter(answer["missing"] for answer in document["answers"] if "missing" in answer)
    first = {answer["missing"]: answer["id"] for answer in reversed(document["answers"]) if "missing" in answer}
    _print_lines([f"{_no_answers(count, first[why])}: {why}" for why, count in missing.items()], console)
    problems = Counter(document["problems"])
    _print_lines([f"{text} ({counted(n, 'time')})" if n > 1 else text for text, n in problems.items()], console)


def _no_answers(count: int, first: str) -> str:
    return f"no answer for {first}{f' and {count - 1:,} more' if count > 1 else ''}"


def _cells(score: dict[str, Any]) -> list[str]:
    cells = []
    for _, part, whole in COLUMNS:
        cells += [f"{score[part]:,}/{score[whole]:,}", percentage(score[part], score[whole])]
    return cells


def percentage(part: int, whole: int) -> str:
    """Return a share in percent; 100 only if it is all, 0 only if it is nothing."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < part < whole:
        percent = min(max(percent, 0.1), 99.9)
    return f"{percent:.1f} %"


def _what_was_asked(document: dict[str, Any]) -> str:
    asked, dataset = len(document["answers"]), document["dataset"]
    text = f"{counted(asked, 'implementation')} of {dataset['implementations']:,}"
    text += f", split {dataset['split']}" if dataset["split"] else ""
    text += f", one in {dataset['share']}" if dataset["share"] > 1 else ""
    return f"{text}. Runner: {clean(' '.join(document['runner'].split()), 200)}"


def _print_lines(lines: list[str], console: Console) -> None:
    mark, style = STATUS_STYLES["failed"]
    for line in lines[:MAX_LINES]:
        console.print(Text.assemble((f"{mark} ", style), clean(line, 400)), soft_wrap=True)
    if len(lines) > MAX_LINES:
        console.print(Text(f"  and {len(lines) - MAX_LINES:,} more: see --json FILE", "dim"))

"""The class in the terminal: progress while it is graded, and the table afterwards."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from autograder.core.text import clean, counted
from autograder.report.check_report import STATUS_STYLES, STATUS_WORDS
from autograder.report.student_feedback import student_exception_lines

MAX_ROWS = 60
LINE_SECONDS = 30.0
OTHERS = ("missing", "unreadable", "failed", "waiting")


class GradedSubmission(Protocol):
    """What is shown of one result while the run goes on."""

    status: str
    reason: str
    notes: list[str]
    statuses: dict[str, int]


class GradingProgress(Protocol):
    """How far a run is."""

    todo: int
    reused: int
    done: int
    name: str
    warning: str

    @property
    def entry(self) -> GradedSubmission | None:
        """The result that came last."""


@contextmanager
def show_progress(console: Console) -> Iterator[Callable[[GradingProgress], None]]:
    """A progress bar with rate and time left, and what went wrong as it comes; a function to tell it how far it is.

    In a pipe there is no bar, but a line now and then.
    """
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None, rate="")
        started = said = time.monotonic()

        def seen(now: GradingProgress) -> None:
            nonlocal said
            took = time.monotonic() - started
            rate = f"{now.done / took:.1f}/s" if now.done and took > 1 else ""
            progress.update(task, total=now.todo, completed=now.done, rate=rate)
            if now.entry is None:
                if now.warning:
                    console.print(Text(now.warning, STATUS_STYLES["error"][1]))
                elif now.reused:
                    console.print(Text(f"{now.reused} already graded, {now.todo} to grade"))
                return
            trouble = _trouble(now.entry)
            if trouble:
                console.print(Text.assemble((f"{now.name}: ", "bold"), (trouble, STATUS_STYLES["error"][1])))
            if not console.is_terminal and time.monotonic() - said > LINE_SECONDS:
                said = time.monotonic()
                left = took / now.done * (now.todo - now.done)
                console.print(Text(f"{now.done} of {now.todo} graded, {rate}, {left / 60:.0f} min left"))

        yield seen


def _trouble(entry: "GradedSubmission") -> str:
    """What an instructor wants to know before the end: what could not be graded, and what ran out of time."""
    if entry.status != "graded":
        return entry.reason
    timeouts = entry.statuses.get("timeout", 0)
    return "; ".join([*entry.notes, *([f"{timeouts} × {STATUS_WORDS['timeout']}"] if timeouts else [])])


def warn_no_sandbox(console: Console) -> None:
    """A banner that cannot be overlooked: the code that is about to run may do whatever its reader may do."""
    text = "No sandbox: submissions can read your files, use your network and change each other's results."
    console.print(
        Panel(Text(text), title=Text("--unsafe-no-sandbox"), border_style=STATUS_STYLES["failed"][1], expand=False)
    )


def render(document: dict[str, Any], out: Path, console: Console) -> None:
    """Print the table of the class, the mean, and where the results lie."""
    students = document["students"]
    console.print(
        Text.assemble(
            "\n", ("Headway", "bold"), f" · {counted(len(students), 'submission')} · seed {document['seed']}\n"
        )
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("student", overflow="ellipsis", no_wrap=True, max_width=28)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("checks", overflow="fold")
    several = Counter(student["name"] for student in students)
    for student in students[:MAX_ROWS]:
        share = student["score"] / student["out_of"] if student["out_of"] else 0.0
        points = f"{student['score']:.4g} / {student['out_of']:g}" if student["out_of"] else "–"
        # By name, as in the report; of two who have the same one, the submission tells who is who.
        name = student["name"] if several[student["name"]] == 1 else f"{student['submission']} {student['name']}"
        table.add_row(Text(clean(name)), Text(points), _bar(share), _counts(student))
    console.print(table)
    if len(students) > MAX_ROWS:
        console.print(Text(f"… and {len(students) - MAX_ROWS} more", "dim"))
    shares = [student["score"] / student["out_of"] for student in students if _has_a_share(student)]
    mean = [f"Mean {100 * sum(shares) / len(shares):.0f} % of {len(shares)} graded"] if shares else []
    others = [f"{n} {word}" for word in OTHERS if (n := sum(student["status"] == word for student in students))]
    text = " · ".join([*mean, *others, f"{document['seconds']:.1f} s"])
    console.print(Text(f"\n{text} · results in {out}: class.json, grades.csv, results/*.json"))


def _has_a_share(student: dict[str, Any]) -> bool:
    """As in the report: who has no result is not counted as 0."""
    return student["status"] == "graded" and bool(student["out_of"])


def _bar(share: float) -> Text:
    filled = round(share * 10)
    return Text.assemble(("█" * filled, STATUS_STYLES["passed"][1]), ("░" * (10 - filled), "dim"))


def _counts(student: dict[str, Any]) -> Text:
    statuses = student["statuses"]
    text = Text()
    for status, (mark, style) in STATUS_STYLES.items():
        if student["status"] == "graded" and statuses.get(status) and (status != "passed" or len(statuses) == 1):
            text.append(f"{', ' if text else ''}{mark} {statuses[status]} {STATUS_WORDS[status]}", style)
    if student["late_days"]:
        less = f": {student['penalty']:.4g} points less" if student["penalty"] else ""
        text.append(f"\n{counted(student['late_days'], 'day')} late{less}")
    for line in student_exception_lines(student):
        text.append(f"\n{line}" if text else line)
    reason = f"{student['status']}: {student['reason']}" if student["status"] in OTHERS else ""
    for note in [reason, *(note for note in student["notes"] if note not in reason)]:
        if note:
            text.append(f"\n{note}" if text else note, STATUS_STYLES["error"][1])
    return text

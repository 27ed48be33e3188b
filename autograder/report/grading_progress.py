"""Grading a class in the terminal: progress during the run, and the table of results."""

import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from autograder.core.points import format_points
from autograder.core.text import clean, counted
from autograder.documents.reading import Document
from autograder.report import wording
from autograder.report.check_report import STATUS_STYLES, status_counts
from autograder.report.student_feedback import student_exception_lines
from autograder.report.styles import bar

MAX_ROWS = 60
MAX_NAME, BAR = 28, 10  # columns
SECONDS_BETWEEN_LINES = 30.0  # of progress, where the output is no terminal
FEWEST_FOR_ESTIMATE = 10  # results: most of the time until the first ones is spent on starting processes
NEXT_COMMANDS = {
    "headway report OUT": "the class, as a page",
    "headway show OUT STUDENT": "one student",
    "headway export csv OUT": "or canvas, moodle …",
}
STATUSES_WITHOUT_SCORE = ("missing", "unreadable", "failed", "waiting")


@dataclass
class GradingProgress:
    """The progress of a run, reported at its start, after each result and with each warning."""

    todo: int  # number of submissions to grade, without the reused ones
    reused: int  # number of submissions whose stored result is current
    done: int = 0  # number of submissions graded so far
    name: str = ""  # the submission that was graded last; empty at the start and with a warning
    problem: str = ""  # what an instructor should know about that submission before the end
    warning: str = ""


@contextmanager
def show_progress(console: Console) -> Iterator[Callable[[GradingProgress], None]]:
    """Show a progress bar (in a pipe, lines now and then) and problems; yield the function to call with each update."""
    columns = TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}")
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, speed="")
        started = last_line = time.monotonic()
        error = STATUS_STYLES["error"][1]

        def update(progress: GradingProgress) -> None:
            nonlocal last_line
            elapsed = time.monotonic() - started
            speed = _speed(progress, elapsed)
            bar.update(task, total=progress.todo, completed=progress.done, speed=", ".join(speed))
            if not progress.name:
                if progress.warning:
                    console.print(Text(progress.warning, error))
                elif progress.reused:
                    console.print(Text(f"{progress.reused} already graded, {progress.todo} to grade"))
                return
            if progress.problem:
                console.print(Text.assemble((f"{progress.name}: ", "bold"), (progress.problem, error)))
            if not console.is_terminal and time.monotonic() - last_line > SECONDS_BETWEEN_LINES:
                last_line = time.monotonic()
                console.print(Text(", ".join([f"{progress.done} of {progress.todo} graded", *speed])))

        yield update


def _speed(progress: GradingProgress, elapsed: float) -> list[str]:
    """Return the rate and about how long the rest takes, once enough is graded to tell."""
    if progress.done < FEWEST_FOR_ESTIMATE or elapsed < 1:
        return []
    minutes = elapsed / progress.done * (progress.todo - progress.done) / 60
    return [f"{progress.done / elapsed:.1f}/s", f"about {minutes:.0f} min left" if minutes > 1 else "under 1 min left"]


def warn_no_sandbox(console: Console) -> None:
    """Print a warning that untrusted code is about to run with the privileges of the person who grades."""
    text = Text("No sandbox: submissions can read your files, use your network and change each other's results.")
    style = STATUS_STYLES["failed"][1]
    console.print(Panel(text, title=Text("--unsafe-no-sandbox"), border_style=style, expand=False))


def render(document: Document, out: Path, console: Console) -> None:
    """Print the scores in a class document, their mean, and `out`, the folder with the results."""
    students = document["students"]
    count = counted(len(students), "student")
    console.print(Text.assemble("\n", ("Headway", "bold"), f" · {count} · seed {document['seed']}\n"))
    console.print(_table(students, console.width))
    if len(students) > MAX_ROWS:
        console.print(Text(f"… and {len(students) - MAX_ROWS} more", "dim"))
    # As in the class report, a student without a result does not count as 0.
    shares = [s["score"] / s["out_of"] for s in students if s["status"] == "graded" and s["out_of"]]
    mean = [f"Mean of {counted(len(shares), 'score')}: {sum(shares) / len(shares):.0%}"] if shares else []
    counts = Counter(student["status"] for student in students)
    others = [f"{counts[status]} {status}" for status in STATUSES_WITHOUT_SCORE if counts[status]]
    text = " · ".join([*mean, *others, f"{document['seconds']:.1f} s"])
    console.print(Text(f"\n{text}\nResults: {out} (class.json, grades.csv, results/*.json)\nNext:"))
    graded = (one["submission"] for one in students if one["status"] == "graded")
    student = next((name for name in graded if not name.startswith("-")), "STUDENT")  # "-x" would be an option
    words = {"OUT": str(out), "STUDENT": clean(student, 120)}
    commands = [shlex.join(words.get(word, word) for word in command.split()) for command in NEXT_COMMANDS]
    for command, about in zip(commands, NEXT_COMMANDS.values(), strict=True):
        line = Text.assemble(f"  {command:{max(map(len, commands))}}  ", (f"# {about}", "dim"))
        console.print(line, soft_wrap=True)


def _table(students: Sequence[Document], width: int) -> Table:
    """Return a row for each student; what the checks found is broken only between two counts."""
    totals = {student["out_of"] for student in students if student["out_of"]}
    total = format_points(totals.pop()) if len(totals) == 1 else ""
    occurrences = Counter(student["name"] for student in students)
    rows = []
    for student in students[:MAX_ROWS]:
        # Students with the same name are told apart by their submissions.
        name = student["name"] if occurrences[student["name"]] == 1 else f"{student['submission']} {student['name']}"
        out_of = "" if total else f" / {format_points(student['out_of'])}"
        points = f"{format_points(student['score'])}{out_of}" if student["out_of"] else "–"
        rows.append((Text(clean(name)), Text(points)))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("student", overflow="ellipsis", no_wrap=True, max_width=MAX_NAME)
    table.add_column(f"of {total}" if total else "score", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("checks", overflow="fold")
    names, scores = (max([7, *(row[column].cell_len for row in rows)]) for column in (0, 1))
    remaining = width - min(names, MAX_NAME) - scores - BAR - 6
    for student, row in zip(students, rows, strict=False):
        share = student["score"] / student["out_of"] if student["out_of"] else 0.0
        table.add_row(*row, bar(share, BAR), _details(student, remaining))
    return table


def _details(student: Document, width: int) -> Text:
    """Return the counts of checks that did not pass, lateness, student exceptions and remarks.

    Lines of counts have at most `width` columns.
    """
    statuses = student["statuses"] if student["status"] == "graded" else {}
    only_passed = len(statuses) == 1
    shown = Counter({name: n for name, n in statuses.items() if name != "passed" or only_passed})
    counts = status_counts(wording.status_counts(shown))
    lines: list[Text] = []
    for count in counts:
        if lines and lines[-1].cell_len + 3 + count.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], ", ", count)
        else:
            lines[-1:] = [*(Text.assemble(line, ",") for line in lines[-1:]), count]
    if student["late_days"]:
        penalty = f": {format_points(student['penalty'])} points deducted" if student["penalty"] else ""
        lines.append(Text(f"{counted(student['late_days'], 'day')} late{penalty}"))
    lines += [Text(line) for line in student_exception_lines(student)]
    reason = f"{student['status']}: {student['reason']}" if student["status"] in STATUSES_WITHOUT_SCORE else ""
    notes = [reason, *(note for note in student["notes"] if (note.partition(": ")[2] or note) not in reason)]
    missing = [name for name, grade in student["assignments"].items() if grade["status"] == "missing"]
    if missing and student["status"] != "missing":
        lines.append(Text(f"no submission: {', '.join(missing)}"))
    lines += [Text(note, STATUS_STYLES["error"][1]) for note in notes if note]
    return Text("\n").join(lines)

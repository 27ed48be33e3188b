"""The panel for an assignment that passes: what the model can do now, and what to do with it."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from autograder.documents.records import FinishedAssignment
from autograder.report import styles

WIDEST_BAR = 34
NARROW_INDENT = 1
BORDERS = 4  # columns of the panel's border and padding


def finished_panel(finished: FinishedAssignment, columns: int) -> RenderableType:
    """Return the panel of a finished assignment for a terminal of that width."""
    room = columns - BORDERS
    parts: list[RenderableType] = [Text(finished.outcome), Text()] if finished.outcome else []
    (passed, functions), counts = finished.functions, _counts(finished)
    width = max(0, min(WIDEST_BAR, room - len(counts) - 2))
    bar = styles.bar(passed / functions, width).append(f"{'  ' * bool(width)}{counts}")
    parts += [bar, Text(), *_rows(finished, room)]
    if finished.unlocks:
        parts.append(Text(f"\nBuilt on it: {', '.join(finished.unlocks)}", "dim"))
    title = Text(f" ★ {_title(finished)} ", f"bold {styles.GREEN}")
    return Panel(Group(*parts), title=title, title_align="left", border_style=styles.GREEN, padding=(0, 1))


def _rows(finished: FinishedAssignment, room: int) -> list[RenderableType]:
    """Return the steps: each command with what it shows, on the same line if there is room."""
    labels = [*(label for label, _, _ in finished.steps), "next"]
    indent = max(map(len, labels)) + 2
    fitting = [command for _, command, text in finished.steps if indent + len(command) + 2 + len(text) <= room]
    width = max(map(len, fitting), default=0)
    rows: list[RenderableType] = []
    for label, command, text in finished.steps:
        row = Text.assemble((f"{label:{indent}}", "dim"), (command, "bold"))
        if len(row) > room:  # Commands are broken only if they do not fit.
            below = Text.assemble((command, "bold"), (f"\n{text}", "dim"))
            rows += [Text(label, "dim"), Padding(below, (0, 0, 0, NARROW_INDENT))]
        elif indent + max(width, len(command)) + 2 + len(text) <= room:
            rows.append(row.append(" " * (max(width, len(command)) - len(command) + 2)).append(text, "dim"))
        else:
            rows += [row, Padding(Text(text, "dim"), (0, 0, 0, indent))]
    if finished.next_text:
        rows.append(Text.assemble((f"{'next':{indent}}", "dim"), finished.next_text))
    return rows


def finished_lines(finished: FinishedAssignment) -> list[str]:
    """Return the same as plain lines, for screen readers and logs."""
    lines = [f"{_title(finished)}. {finished.outcome}".rstrip(), f"{_counts(finished)}."]
    lines += [f"{label}: {command} ({text})" for label, command, text in finished.steps]
    lines += [f"next: {finished.next_text}"] if finished.next_text else []
    lines += [f"built on it: {', '.join(finished.unlocks)}"] if finished.unlocks else []
    return lines


def _title(finished: FinishedAssignment) -> str:
    complete, assignments = finished.assignments
    if complete == assignments:
        return f"The course is complete: all {assignments} assignments"
    return f"{finished.module} is complete: assignment {finished.number} of {finished.assignments[1]}"


def _counts(finished: FinishedAssignment) -> str:
    (passed, functions), (complete, assignments) = finished.functions, finished.assignments
    return f"{passed} of {functions} functions, {complete} of {assignments} assignments"

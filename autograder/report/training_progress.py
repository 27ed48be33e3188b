"""A training run in the terminal: progress, losses, speed, and text that the model generates."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from autograder.documents.records import LossPoint, TrainingStart, TrainingUpdate, thinned
from autograder.report.console import break_before_command
from autograder.report.loss_curve import curve_lines

CURVE_ROWS, WIDEST_CURVE = 9, 100
SAMPLE_ROWS, SHORT_LINE = 4, 25
LINES_OPTIONS = " --lines 10 --temperature 0.8"  # of the command that is recommended for names


@contextmanager
def show_training(
    console: Console, start: TrainingStart, earlier: Sequence[LossPoint] = (), *, plain: bool = False
) -> Iterator[Callable[[TrainingUpdate], None]]:
    """Show a run with its loss curve; yield the function to call with each update.

    In a pipe, and if `plain`, a line is printed for each measurement. The points `earlier` are those of a resumed run.
    """
    changed = f" ({', '.join(start.changed)})" if start.changed else ""
    model = f"{start.n_parameters:,} parameters, {start.vocabulary} distinct characters"
    texts = f"{start.train_characters:,} for training, {start.val_characters:,} for validation"
    console.print(Text(f"preset {start.preset}{changed}, dataset {start.data}: {model}, {texts}"))
    is_live = console.is_terminal and not plain
    screen = _LiveScreen(console, start, earlier)
    validation: float | None = None

    def show(update: TrainingUpdate) -> None:
        nonlocal validation
        validation = validation if update.validation is None else update.validation
        numbers = _numbers(update, validation, start.entropy)
        if live is not None:
            live.update(screen.after(update, numbers))
        elif update.validation is not None:
            sample = " ".join((update.sample or "").split())[: min(60, console.width - 13)]
            console.print(Text(f"step {update.step:>6} · {numbers.plain}"), soft_wrap=not console.is_terminal)
            console.print(Text(f"            {sample}", "dim"), soft_wrap=True)

    with Live(console=console, refresh_per_second=8) if is_live else nullcontext() as live:
        yield show


def _numbers(update: TrainingUpdate, validation: float | None, entropy: float | None) -> Text:
    numbers = Text.assemble("loss ", (f"{update.loss:.4f}", "bold"))
    if validation is not None:
        numbers.append(" · validation ").append(f"{validation:.4f}", "bold")
        numbers.append(f" = {validation / entropy:.3f} × entropy ({entropy:.4f})" if entropy is not None else "")
    return numbers.append(f" · {update.tokens_per_second:,.0f} tokens/s", "dim")


class _LiveScreen:
    """The part of the terminal that changes: a bar, the numbers, the curve and a sample."""

    def __init__(self, console: Console, start: TrainingStart, earlier: Sequence[LossPoint]) -> None:
        self._console, self._until = console, start.until
        self._points, self._sample = list(earlier), ""
        columns = TextColumn("step"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn()
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task("", total=start.until, completed=start.first)

    def after(self, update: TrainingUpdate, numbers: Text) -> Group:
        """Return what to show after an update."""
        self._points = thinned([*self._points, LossPoint(update.step, update.loss, update.validation)])
        self._sample = self._sample if update.sample is None else sample_text(update.sample)
        self._progress.update(self._task, completed=update.step)
        shown: list[RenderableType] = [self._progress, numbers]
        lines = max(0, self._console.height - 4)  # without the bar, the numbers and the line above them
        rows = min(CURVE_ROWS, lines - 2 - SAMPLE_ROWS - 2)
        width = min(self._console.width - 1, WIDEST_CURVE)
        ascii_only = self._console.options.ascii_only
        shown += curve_lines(self._points, self._until, width, rows, ascii_only=ascii_only)
        if self._sample:
            height = min(SAMPLE_ROWS + 2, lines)
            text = Text(self._sample)
            panel = Panel(text, title="sample", title_align="left", border_style="dim", width=width, height=height)
            shown.append(panel)
        return Group(*shown)


def show_end(
    console: Console, out: Path, plot: str, comparison: Sequence[str], stopped_at: int | None, *, has_lines: bool
) -> None:
    """Print how a run compares with counting, and the commands that resume it, if it was stopped, and generate text."""
    name = shlex.quote(str(out))
    lines = [*comparison]
    if stopped_at is not None:
        lines.append(f"Stopped at step {stopped_at}. Resume: headway train --resume --out {name}")
    lines.append(f"Wrote {out} and {plot}. Generate text: headway generate {name}{LINES_OPTIONS if has_lines else ''}")
    for line in lines:
        console.print(Text(break_before_command(line, console.width)), soft_wrap=True)


def sample_text(sample: str) -> str:
    """Return a generated text for a few lines: short lines, such as names, stand beside each other."""
    lines = [line for line in sample.strip("\n").split("\n") if line.strip()]
    if len(lines) > SAMPLE_ROWS and sum(map(len, lines)) / len(lines) < SHORT_LINE:
        return ", ".join(lines)
    return "\n".join(lines[:SAMPLE_ROWS])

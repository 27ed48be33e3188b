"""The training runs of a workspace as a table, or as lines in a narrow terminal: `headway runs`."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from autograder.report.styles import grid

NARROW = 76  # columns; below, each run takes two lines


@dataclass(frozen=True)
class ModelSummary:
    """A model in a file, as it is listed; one that was trained here has a step."""

    name: str  # of the file
    kind: str  # "gpt", "bigram", "llama" or "encoder-decoder"; "imported"; empty if the file cannot be read
    changed: float  # when it was written, in seconds since 1970
    about: str  # what it is, in a few words; or why it cannot be used
    step: int | None = None
    steps: int | None = None
    loss: float | None = None
    validation: float | None = None
    seconds: float | None = None  # that training took
    parameters: int | None = None
    changed_settings: tuple[str, ...] = ()  # that are not the preset's, as NAME=VALUE


def render(runs: Sequence[ModelSummary], console: Console, *, plain: bool = False) -> None:
    """Print the runs: file, preset and text, steps, losses, time, and the settings that are not the preset's."""
    if plain or console.width < NARROW:
        for run in runs:
            console.print(Text(_line(run)))
        return
    table = grid("left", "fold", "right", "right", "right", "right")
    titles = "file", "preset and text", "steps", "training", "validation", "time"
    table.add_row(*(Text(title, "dim") for title in titles))
    for run in runs:
        about = Text(run.about)
        for setting in run.changed_settings:
            about.append(f" {setting}", "dim")
        numbers = (_steps(run), _loss(run.loss), _loss(run.validation), training_time(run.seconds))
        table.add_row(Text(run.name, "bold"), about, *map(Text, numbers))
    console.print(table)


def _line(run: ModelSummary) -> str:
    about = " ".join((run.about, *run.changed_settings))
    parts = [f"{_steps(run)} steps"]
    parts += [f"training {_loss(run.loss)}"] if run.loss is not None else []
    parts += [f"validation {_loss(run.validation)}"] if run.validation is not None else []
    parts += [training_time(run.seconds)] if run.seconds is not None else []
    return f"{run.name}: {about}: {', '.join(parts)}"


def _steps(run: ModelSummary) -> str:
    if run.step is None:
        return ""
    return f"{run.step:,}" if run.steps is None or run.step >= run.steps else f"{run.step:,} of {run.steps:,}"


def _loss(loss: float | None) -> str:
    return "" if loss is None else f"{loss:.4f}"


def training_time(seconds: float | None) -> str:
    """Return how long training took: "14 s", "2 min 5 s", "1 h 20 min"; empty if it is unknown."""
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"

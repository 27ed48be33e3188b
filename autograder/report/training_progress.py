"""A training run in the terminal: progress, loss, speed, and text that the model makes up."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text


@dataclass(frozen=True)
class TrainingUpdate:
    """What is known after some more steps.

    Attributes:
        loss: mean training loss of the latest steps, nats per character.
        tokens_per_second: of training alone, over the latest steps.
        validation: loss on the validation text, if it was measured at this step.
        sample: text that the model made up, if it was asked at this step.
    """

    step: int
    loss: float
    tokens_per_second: float
    validation: float | None = None
    sample: str | None = None


class TrainingDisplay:
    """The show_training view on a terminal; plain lines, one per measurement, in a pipe."""

    def __init__(self, console: Console, first: int, until: int, floor: float | None) -> None:
        self._console = console
        self._floor = floor
        self._live: Live | None = None
        self._progress = Progress(
            TextColumn("step"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn(), console=console
        )
        self._task = self._progress.add_task("", total=until, completed=first)
        self._validation: float | None = None
        self._sample = ""

    def show(self, news: TrainingUpdate) -> None:
        """Take note of what is new."""
        if news.validation is not None:
            self._validation, self._sample = news.validation, news.sample or ""
        if self._live is not None:
            self._progress.update(self._task, completed=news.step)
            sample = [self._text()] if self._sample else []
            self._live.update(Group(self._progress, self._numbers(news), *sample))
        elif news.validation is not None:
            self._console.print(Text(f"step {news.step:>6} · {self._numbers(news).plain}"))
            self._console.print(Text("            " + " ".join(self._sample.split())[:60], "dim"), soft_wrap=True)

    def _numbers(self, news: TrainingUpdate) -> Text:
        text = Text.assemble("loss ", (f"{news.loss:.4f}", "bold"))
        if self._validation is not None:
            text.append(" · validation ").append(f"{self._validation:.4f}", "bold")
            if self._floor is not None:
                text.append(f" = {self._validation / self._floor:.3f} × the entropy {self._floor:.4f}")
        return text.append(f" · {news.tokens_per_second:,.0f} tokens/s", "dim")

    def _text(self) -> Panel:
        return Panel(Text(self._sample.strip("\n")), title="what it makes up", title_align="left", border_style="dim")


@contextmanager
def show_training(console: Console, first: int, until: int, floor: float | None) -> Iterator[TrainingDisplay]:
    """A view of a run from step `first` to `until`; `floor` is the entropy of the text, where it is known."""
    view = TrainingDisplay(console, first, until, floor)
    if not console.is_terminal:
        yield view
        return
    with Live(console=console, refresh_per_second=8) as shown:
        view._live = shown
        yield view

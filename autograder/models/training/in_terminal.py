"""Train in the terminal: `headway train`."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console

from autograder.core.files import write_atomically
from autograder.core.interruption import stop_on_ctrl_c
from autograder.core.output_files import require_replaceable
from autograder.courses.transformer.training.settings import TrainingSettings
from autograder.documents.records import TrainingStart, TrainingUpdate
from autograder.drawing import figure
from autograder.errors import UsageError
from autograder.models.plots.training import loss_curve
from autograder.models.training import datasets
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.runs import TrainingEnd, records
from autograder.report.training_progress import show_end, show_training
from autograder.workspace.terminal import echo_disabled


def require_new_plot(out: Path, force: bool) -> None:
    """Raise UsageError if the loss curve cannot be drawn, or would replace a picture that is no plot of Headway."""
    figure.require_matplotlib()
    plot_path = out.with_suffix(".png")
    if plot_path == out:
        another = f"Name another file: --out {out.with_suffix('.safetensors')}"
        raise UsageError(f"{out} is the name of the loss curve. {another}")
    require_replaceable(plot_path, figure.is_plot, "a plot of Headway", option="--out FILE", force=force)


def train(
    folder: Path,
    settings: TrainingSettings,
    out: Path,
    console: Console,
    resumed: Checkpoint | None,
    until: int,
    *,
    plain: bool = False,
    student: Sequence[str] = (),
) -> Checkpoint:
    """Train in the terminal, then draw the loss curve beside the checkpoint. Ctrl-C stops the run and saves it."""
    plot_path, earlier = out.with_suffix(".png"), resumed.curve() if resumed else []
    with (
        stop_on_ctrl_c() as stop,
        closing(records(folder, settings, out, resumed, until, stop, student)) as progress,
    ):
        start = next(progress)
        assert isinstance(start, TrainingStart)
        with echo_disabled(), show_training(console, start, earlier, plain=plain) as show:
            for record in progress:
                if isinstance(record, TrainingUpdate):
                    show(record)
                elif isinstance(record, TrainingEnd):
                    end = record
    write_atomically(plot_path, figure.to_bytes(loss_curve(end.run), "png"))
    stopped_at = end.run.step if end.stopped else None
    show_end(console, out, plot_path.name, end.comparison, stopped_at, has_lines=datasets.has_lines(settings))
    return end.run

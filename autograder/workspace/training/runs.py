"""Start, resume and finish training runs: `headway train` and `headway generate`."""

import hashlib
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.core.files import write_atomically
from autograder.errors import UsageError
from autograder.report.check_report import break_before_command
from autograder.report.training_progress import TrainingStart, TrainingUpdate, show_training
from autograder.sandbox import start_workers
from autograder.workspace.plots import figure
from autograder.workspace.plots.training import loss_curve
from autograder.workspace.terminal import echo_disabled
from autograder.workspace.training import checkpoint, datasets, presets
from autograder.workspace.training.checkpoint import Checkpoint, TrainingSettings
from autograder.workspace.training.sampling import Sampling
from autograder.workspace.training.trainer import Trainer

MEASUREMENTS = 10  # how often the validation loss is measured in a run


def new_settings(preset_name: str, data: str | None, steps: int | None, schedule: str, seed: int) -> TrainingSettings:
    """Return the settings of a new run."""
    preset = presets.find_preset(preset_name)
    dataset = data or preset.data
    if preset.kind == "bigram" and schedule != "constant":
        raise UsageError(f"the preset {preset_name} has a constant learning rate. Leave out --schedule")
    digest = hashlib.sha256(datasets.load(dataset, seed).encode()).hexdigest()
    chosen = {"data": dataset, "steps": steps or preset.steps, "schedule": schedule, "seed": seed}
    return TrainingSettings(**asdict(preset) | chosen, preset=preset_name, data_sha256=digest)


@dataclass(frozen=True)
class TrainingEnd:
    """A training run whose checkpoint has been written."""

    run: Checkpoint
    stopped: bool  # before its last step, on request
    comparison: list[str]  # lines that compare a bigram model with counting


def records(
    folder: Path, settings: TrainingSettings, out: Path, resumed: Checkpoint | None, until: int, stop: threading.Event
) -> Generator[TrainingStart | TrainingUpdate | TrainingEnd]:
    """Train to step `until`, or until `stop` is set, and write the checkpoint; yield records of the progress.

    The first record is a `TrainingStart` and the last one a `TrainingEnd`.
    """
    settings = resumed.settings if resumed else settings
    if resumed and resumed.step >= until:
        raise UsageError(f"{out} already has {resumed.step} steps. To train longer: headway train --resume --steps N")
    checkpoint.require_writable(out)
    with start_workers() as workers, closing(Trainer(workers, folder, settings, resumed)) as trainer:
        yield TrainingStart(
            preset=settings.preset,
            data=settings.data,
            first=trainer.run.step,
            until=until,
            n_parameters=trainer.n_parameters,
            vocabulary=trainer.vocabulary,
            train_characters=trainer.train_characters,
            val_characters=trainer.val_characters,
            entropy=settings.entropy_floor(),
        )
        for update in trainer.train(until, max(1, settings.steps // MEASUREMENTS)):
            yield update
            if stop.is_set():
                break
        run = trainer.checkpoint()
        comparison = trainer.comparison_with_counts() if settings.kind == "bigram" else []
    _save(run, out)
    yield TrainingEnd(run, run.step < until, comparison)


def train(
    folder: Path, settings: TrainingSettings, out: Path, console: Console, resume: bool, until: int
) -> Checkpoint:
    """Train in the terminal, then draw the loss curve beside the checkpoint. Ctrl-C stops the run and saves it."""
    figure.require_matplotlib()
    plot_path = out.with_suffix(".png")
    if plot_path == out:
        another = f"Name another file: --out {out.with_suffix('.safetensors')}"
        raise UsageError(f"{out} is the name of the loss curve. {another}")
    resumed = checkpoint.load(out) if resume else None
    with ExitStack() as stack:
        stop = stack.enter_context(_stop_on_ctrl_c())
        progress = stack.enter_context(closing(records(folder, settings, out, resumed, until, stop)))
        show: Callable[[TrainingUpdate], None] | None = None
        for record in progress:
            if isinstance(record, TrainingStart):
                stack.enter_context(echo_disabled())
                show = stack.enter_context(show_training(console, record))
            elif isinstance(record, TrainingUpdate) and show is not None:
                show(record)
            elif isinstance(record, TrainingEnd):
                end = record
    write_atomically(plot_path, figure.to_bytes(loss_curve(end.run), "png"))
    lines = [*end.comparison, f"Wrote {out} and {plot_path.name}. Generate text: headway generate {out}"]
    if end.stopped:
        resume_line = f"Stopped at step {end.run.step}. Resume: headway train --resume --out {out}"
        lines.insert(len(end.comparison), resume_line)
    for line in lines:
        console.print(Text(break_before_command(line, console.width)), soft_wrap=True)
    return end.run


def _save(run: Checkpoint, out: Path) -> None:
    """Write the checkpoint; if that fails, write it to a temporary folder so that the run is not lost."""
    try:
        checkpoint.save(out, run)
    except OSError as error:
        rescued = Path(tempfile.mkdtemp(prefix="headway-")) / out.name
        checkpoint.save(rescued, run)
        raise UsageError(f"cannot write {out} ({error.strerror}). The checkpoint is in {rescued}: move it") from None


@contextmanager
def _stop_on_ctrl_c() -> Iterator[threading.Event]:
    """Provide an event that Ctrl-C sets, so that the run can be saved; a second Ctrl-C interrupts at once."""
    stop_requested = threading.Event()

    def handle(number: int, frame: object) -> None:
        if stop_requested.is_set():
            raise KeyboardInterrupt
        stop_requested.set()

    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield stop_requested
    finally:
        signal.signal(signal.SIGINT, previous)


def generate(folder: Path, run: Checkpoint, prompt: str | None, length: int, sampling: Sampling) -> Generator[str]:
    """Yield the prompt, then `length` characters generated with the modules in `folder`, piece by piece."""
    prompt = run.settings.prompt if prompt is None else prompt
    run.require_known_characters(prompt)
    if not prompt:
        raise UsageError("the prompt is empty. Give at least one character: --prompt A")
    if run.settings.kind not in ("gpt", "llama") and (sampling.top_k is not None or sampling.top_p is not None):
        raise UsageError(f"{run.settings.kind} models are generated without --top-k and --top-p. Leave them out")
    with start_workers() as workers, closing(Trainer(workers, folder, run.settings, run)) as trainer:
        yield prompt
        yield from trainer.pieces(prompt, length, sampling)

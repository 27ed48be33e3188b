"""Start, resume and finish training runs: what `headway train` and `headway generate` do."""

import hashlib
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.core.files import write_atomically
from autograder.errors import UsageError
from autograder.report import training_progress as view
from autograder.report.check_report import break_before_command
from autograder.sandbox import Workers
from autograder.workspace.plots import figure
from autograder.workspace.plots.training import loss_curve
from autograder.workspace.terminal import echo_disabled
from autograder.workspace.training import checkpoint, datasets, presets
from autograder.workspace.training.trainer import Trainer

MEASUREMENTS = 10  # how many times the validation loss is measured in a run


def new_settings(
    preset_name: str, data: str | None, steps: int | None, schedule: str, seed: int
) -> checkpoint.TrainingSettings:
    """The settings of a new run.

    Raises:
        UsageError: for an unknown preset or dataset, or one that has not been fetched.
    """
    preset = presets.find_preset(preset_name)
    name = data or preset.data
    return checkpoint.TrainingSettings(
        preset=preset_name,
        data=name,
        model=dict(preset.model),
        batch_size=preset.batch_size,
        lr=preset.lr,
        schedule=schedule,
        steps=steps or preset.steps,
        seed=seed,
        prompt=preset.prompt,
        data_sha256=hashlib.sha256(datasets.load(name, seed).encode()).hexdigest(),
    )


def train(
    folder: Path, settings: checkpoint.TrainingSettings, out: Path, console: Console, resume: bool, until: int
) -> checkpoint.Checkpoint:
    """Train to step `until` and write checkpoint and loss curve; Ctrl-C ends the run early and saves it.

    Args:
        folder: the modules to train with.
        settings: of a new run; a resumed one has its own.
        out: the checkpoint; the picture lies beside it with the ending .png.
        resume: go on from `out`.
    """
    resumed = checkpoint.load(out) if resume else None
    settings = resumed.settings if resumed else settings
    if resumed and resumed.step >= until:
        raise UsageError(f"{out} has {resumed.step} steps already. Go further: headway train --resume --steps N")
    figure.require_matplotlib()
    checkpoint.require_writable(out)
    picture = out.with_suffix(".png")
    if picture == out:
        raise UsageError(f"{out} is where the picture goes. Name another file: --out {out.with_suffix('.safetensors')}")
    floor = settings.entropy_floor()
    with Workers() as workers, _ctrl_c_asks_to_stop() as asked:
        trainer = Trainer(workers, folder, settings, resumed)
        first = trainer.run.step
        console.print(
            f"{settings.preset} on {settings.data}: {trainer.n_parameters:,} parameters, {trainer.vocabulary} "
            f"characters, {trainer.train_characters:,} to train on, {trainer.val_characters:,} to validate on"
        )
        with echo_disabled(), view.show_training(console, first, until, floor) as shown:
            for news in trainer.train(until, max(1, settings.steps // MEASUREMENTS)):
                shown.show(news)
                if asked.is_set():
                    break
        run = trainer.checkpoint()
        trainer.close()
    _keep(run, out)
    write_atomically(picture, figure.to_bytes(loss_curve(run), "png"))
    lines = [f"Wrote {out} and {picture.name}. Let it talk: headway generate {out}"]
    if asked.is_set():
        lines.insert(0, f"Stopped at step {run.step}. Go on from there: headway train --resume --out {out}")
    for line in lines:
        console.print(Text(break_before_command(line, console.width)), soft_wrap=True)
    return run


def _keep(run: checkpoint.Checkpoint, out: Path) -> None:
    """Write the checkpoint; where there is no room for it any more, elsewhere: it is not lost.

    Raises:
        UsageError: if it lies elsewhere.
    """
    try:
        checkpoint.save(out, run)
    except OSError as error:
        instead = Path(tempfile.mkdtemp(prefix="headway-")) / out.name
        checkpoint.save(instead, run)
        raise UsageError(
            f"cannot write {out} ({error.strerror}). What was trained is in {instead}: move it to where there is room"
        ) from None


@contextmanager
def _ctrl_c_asks_to_stop() -> Iterator[threading.Event]:
    """Ctrl-C sets the event, so that the steps under way end and are saved; a second one interrupts at once."""
    asked = threading.Event()

    def handle(number: int, frame: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def generate(
    folder: Path, run: checkpoint.Checkpoint, prompt: str | None, length: int, temperature: float, seed: int
) -> str:
    """Text that the model of a checkpoint makes up, with the functions of the submission in `folder`.

    Raises:
        UsageError: if the prompt has characters that the model does not know.
    """
    prompt = run.settings.prompt if prompt is None else prompt
    run.require_known_characters(prompt)
    if not prompt:
        raise UsageError("the prompt is empty. Give at least one character: --prompt A")
    with Workers() as workers:
        trainer = Trainer(workers, folder, run.settings, run)
        try:
            return prompt + trainer.sample(length, temperature, prompt=prompt, seed=seed)
        finally:
            trainer.close()

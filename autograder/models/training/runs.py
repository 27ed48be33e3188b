"""Start, resume and finish training runs, and generate text: for a terminal, and for pages."""

import shlex
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.core.files import file_stamp
from autograder.core.text import counted
from autograder.courses.transformer.training.hyperparameters import changed_model, changed_settings
from autograder.courses.transformer.training.settings import TrainingSettings, find_preset
from autograder.documents.records import TrainingStart, TrainingUpdate
from autograder.errors import UsageError
from autograder.models.training import checkpoint, checkpoint_list, datasets
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.models.training.trainer import Trainer
from autograder.sandbox.policy import NO_SANDBOX
from autograder.sandbox.process import start_workers
from autograder.sandbox.workers import StartWorkers
from autograder.workspace.files import text_digest

LONGEST_LINE = 1000  # characters of a generated line, on average
MEASUREMENTS = 10  # how often the validation loss is measured in a run


def new_settings(preset: str, changes: Sequence[str] = (), **chosen: Any) -> TrainingSettings:
    """Return the settings of a new run: those of a preset, with what a user chose in their place, if not None or empty.

    The `changes` are settings of the model, NAME=VALUE.
    """
    given = {name: value for name, value in chosen.items() if value not in (None, "")}
    settings = replace(find_preset(preset), **given)
    if settings.kind == "bigram" and settings.schedule == "cosine":
        raise UsageError(f"the preset {preset} has a constant learning rate. Leave out --schedule")
    if settings.shuffle_lines and not datasets.is_file(settings.data):
        raise UsageError("--shuffle-lines is for a file of your own: --data FILE. Leave it out")
    settings.model = changed_model(settings, changes)
    text = datasets.load(settings.data, settings.seed, settings.shuffle_lines)
    datasets.require_length(text, int(settings.model["block_size"]), settings.data)
    if not set(settings.prompt) <= set(text):  # The beginning of samples must consist of characters of the text.
        settings.prompt = text[: len(settings.prompt)]
    settings.data_sha256 = text_digest(text)
    return settings


@dataclass(frozen=True)
class TrainingEnd:
    """A training run whose checkpoint has been written."""

    run: Checkpoint
    stopped: bool  # before its last step, on request
    comparison: list[str]  # lines that compare the model with counting


def records(
    folder: Path,
    settings: TrainingSettings,
    out: Path,
    resumed: Checkpoint | None,
    until: int,
    stop: threading.Event,
    student: Sequence[str] = (),
    start: StartWorkers = start_workers,
) -> Generator[TrainingStart | TrainingUpdate | TrainingEnd]:
    """Train to step `until`, or until `stop` is set, and write the checkpoint; yield records of the progress.

    The first record is a `TrainingStart` and the last one a `TrainingEnd`. The checkpoint records the assignments whose
    code is the `student`'s.
    """
    if resumed and resumed.step >= until:
        raise UsageError(f"{out} already has {resumed.step} steps. To train longer: headway train --resume --steps N")
    checkpoint.require_writable(out)
    before = file_stamp(out)
    with start(NO_SANDBOX) as workers, closing(Trainer(workers, folder, settings, resumed)) as trainer:
        trainer.run.student = _written_in_all_steps(resumed, student)
        yield TrainingStart(
            preset=settings.preset,
            data=datasets.shown_name(settings.data),
            first=trainer.run.step,
            until=until,
            n_parameters=trainer.n_parameters,
            vocabulary=trainer.vocabulary,
            train_characters=trainer.train_characters,
            val_characters=trainer.val_characters,
            entropy=settings.entropy_floor(),
            changed=tuple(changed_settings(settings)),
        )
        for update in trainer.train(until, max(1, settings.steps // MEASUREMENTS)):
            yield update
            if stop.is_set():
                break
        run = trainer.checkpoint()
        comparison = trainer.comparison_with_counts()
    _save(run, out, before)
    yield TrainingEnd(run, run.step < until, comparison)


def _written_in_all_steps(resumed: Checkpoint | None, student: Sequence[str]) -> list[str] | None:
    """Return the assignments whose code is the student's now, and was in the earlier steps; None if unknown."""
    if resumed is None or resumed.step == 0:
        return [*student]
    return None if resumed.student is None else [name for name in resumed.student if name in student]


def require_new_checkpoint(out: Path, force: bool) -> None:
    """Raise UsageError if a new run would replace a file, unless that is wanted; the message says what the file is."""
    if not force and out.is_file() and (step := checkpoint_list.summary(out).step) is not None:
        resume = f"--resume continues it (headway train --resume --out {shlex.quote(str(out))})"
        raise UsageError(f"{out} has {counted(step, 'step')}. {resume}, --force replaces it")
    checkpoint_list.require_new_file(out, force)


def _save(run: Checkpoint, out: Path, before: tuple[int, ...] = ()) -> None:
    """Write the checkpoint; where that fails, or would replace another run's, write it elsewhere.

    `before` is the file's stamp when this run began.
    """
    if file_stamp(out) not in ((), before):
        other = checkpoint_list.unused_path(out)
        checkpoint.save(other, run)
        raise UsageError(f"{out} was changed by another run meanwhile, so it was kept. This run is in {other}")
    try:
        checkpoint.save(out, run)
    except OSError as error:
        rescued = Path(tempfile.mkdtemp(prefix="headway-")) / out.name
        checkpoint.save(rescued, run)
        raise UsageError(f"cannot write {out} ({error.strerror}). The checkpoint is in {rescued}: move it") from None


def generate(
    folder: Path,
    run: Checkpoint,
    prompt: str | None,
    length: int,
    sampling: Sampling,
    start: StartWorkers = start_workers,
) -> Generator[str]:
    """Yield the prompt, then `length` characters generated with the modules in `folder`, piece by piece."""
    prompt = run.settings.prompt if prompt is None else prompt
    run.require_known_characters(prompt)
    if not prompt:
        raise UsageError("the prompt is empty. Give at least one character: --prompt A")
    if run.settings.kind not in ("gpt", "llama") and (sampling.top_k is not None or sampling.top_p is not None):
        raise UsageError(f"{run.settings.kind} models are generated without --top-k and --top-p. Leave them out")
    with start(NO_SANDBOX) as workers, closing(Trainer(workers, folder, run.settings, run, only_text=True)) as trainer:
        yield prompt
        yield from trainer.pieces(prompt, length, sampling)


def generate_lines(folder: Path, run: Checkpoint, prompt: str | None, count: int, sampling: Sampling) -> Generator[str]:
    """Yield `count` non-empty lines, such as names; raise UsageError if the model does not end them."""
    if run.settings.kind == "encoder-decoder":
        raise UsageError("an encoder–decoder gives one answer to its prompt. Leave out --lines")
    if "\n" not in run.chars:
        raise UsageError("the model knows no line breaks, because its text has none. Use --length instead of --lines")
    rest, found, length = "", 0, count * LONGEST_LINE
    with closing(generate(folder, run, prompt, length, sampling)) as pieces:
        for piece in pieces:
            *lines, rest = f"{rest}{piece}".split("\n")
            for line in filter(str.strip, lines):
                yield line
                found += 1
                if found == count:
                    return
    raise UsageError(
        f"only {counted(found, 'line')} ended within {length:,} characters. Use --length instead of --lines"
    )

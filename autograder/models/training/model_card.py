"""Make the card of a trained model. It contains no names of folders, files, machines or people."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder import __version__
from autograder.core.text import counted
from autograder.courses.transformer import TRANSFORMER
from autograder.documents.records import LossPoint
from autograder.errors import UsageError
from autograder.models.training import datasets, runs
from autograder.models.training.baselines import baselines
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.models.training.select_modules import MODULES
from autograder.report.trained_models import ModelCard, training_time

SAMPLE_LINES, SAMPLE_CHARACTERS = 12, 400
KINDS = {"gpt": "GPT", "bigram": "bigram model", "llama": "Llama", "encoder-decoder": "encoder–decoder"}
WORDS = {"n_layers": "{} blocks", "n_heads": "{} heads", "d_model": "width {}", "block_size": "context {}"}
OWN_TEXT = "a text of the author's own"


def make_card(folder: Path, run: Checkpoint, sampling: Sampling) -> ModelCard:
    """Return the card of a model; the sample is generated with the modules in `folder`."""
    settings, kind = run.settings, KINDS.get(run.settings.kind, run.settings.kind)
    points = run.curve()
    if not points:
        raise UsageError("the model has not been trained yet. Train it: headway train --resume")
    size = sum(array.size for array in run.params.values())
    text = OWN_TEXT
    if not datasets.is_file(settings.data):
        text = datasets.find_dataset(settings.data).description.partition(";")[0]
    sample, prompt = _sample(folder, run, sampling)
    return ModelCard(
        title=f"A {kind} with {size:,} parameters",
        summary=f"Trained in NumPy, without a deep-learning library, on {text}.",
        facts=[*_facts(run, text)],
        losses=[*_losses(run, points)],
        curve=points,
        steps=run.step,
        sample=sample,
        sample_note=f"Temperature {sampling.temperature:g}, seed {sampling.seed}{prompt}.",
        code=[*_code(run)],
        made_with=f"Made with Headway {__version__}: learn the transformer by writing it.",
    )


def _facts(run: Checkpoint, text: str) -> Iterable[tuple[str, str]]:
    settings = run.settings
    yield "text", text
    yield "different characters", str(len(run.chars))
    yield "form", ", ".join(_setting(name, value) for name, value in settings.model.items())
    window = int(settings.model["block_size"])
    batch = f"{settings.batch_size} windows of {counted(window, 'character')} each"
    yield "training", f"{run.step:,} steps, {batch}"
    yield "learning rate", f"{settings.lr:g}, {settings.schedule}"
    yield "characters read", f"{run.step * settings.batch_size * window:,}"
    if run.seconds is not None:
        yield "time", training_time(run.seconds)
    yield "preset, seed", f"{settings.preset}, {settings.seed}"


def _setting(name: str, value: object) -> str:
    if name in WORDS:
        return WORDS[name].format(value)
    return f"{name} {str(value).lower() if isinstance(value, bool) else value}"


def _losses(run: Checkpoint, points: Sequence[LossPoint]) -> Iterable[tuple[str, float]]:
    yield "training text", points[-1].loss
    if run.validation and math.isfinite(run.validation[-1][1]):
        yield "text that it was not trained on", run.validation[-1][1]
    try:
        text = datasets.text_of(run.settings)
    except UsageError:  # The file no longer exists.
        yield f"to compare: uniform guess: log {len(run.chars)}", math.log(len(run.chars))
        return
    for name, loss in baselines(run.settings, text).items():
        yield f"to compare: {name}", loss


def _sample(folder: Path, run: Checkpoint, sampling: Sampling) -> tuple[str, str]:
    """Return a text of the model, and what its note says about the prompt."""
    if datasets.has_lines(run.settings) and run.settings.kind != "encoder-decoder":
        return "\n".join(runs.generate_lines(folder, run, None, SAMPLE_LINES, sampling)), ""
    text = "".join(runs.generate(folder, run, None, SAMPLE_CHARACTERS, sampling))
    prompt = run.settings.prompt
    if run.settings.kind == "encoder-decoder":
        return f"{prompt} → {text.removeprefix(prompt)}", ", from reading the text on the left"
    return text.strip("\n"), f", after the prompt {prompt!r}" if prompt.strip() else ""


def _code(run: Checkpoint) -> Iterable[str]:
    if run.student is None:
        yield "The checkpoint does not record whose code trained the model."
        return
    needed = MODULES[run.settings.kind]
    student = [name for name in needed if name in run.student]
    official = [name for name in needed if name not in run.student]
    if student:
        functions = sum(len(TRANSFORMER.modules[name].functions) for name in student)
        every = "all of the code that it uses" if not official else ", ".join(map(_title, student))
        yield f"Written by the author of this card, and checked against PyTorch: {every} ({functions} functions)."
    if official:
        yield f"From Headway's official solution: {', '.join(map(_title, official))}."


def _title(module: str) -> str:
    title = TRANSFORMER.modules[module].title
    return title if title[:2].isupper() else title[0].lower() + title[1:]

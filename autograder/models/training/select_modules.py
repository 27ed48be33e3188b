"""Choose the modules a model runs on: the student's where they pass, official ones in place of the rest."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.core.files import read_modules
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.errors import UsageError
from autograder.models.pretrained.model_file import ImportedModel
from autograder.models.training import datasets
from autograder.models.training.checkpoint import Checkpoint
from autograder.workspace import progress
from autograder.workspace.check import statuses_of
from autograder.workspace.workspace import Workspace

# The assignments that a model uses, by its kind.
_GPT = ("softmax", "embeddings", "attention", "multihead", "layernorm", "ffn", "blocks", "gpt")
MODULES = {
    "bigram": ("tokenizer", "counting", "softmax", "bigram"),
    "gpt": ("tokenizer", *_GPT, "training", "generation"),
    "imported gpt2": (*_GPT, "generation", "bpe", "gpt2"),
    "encoder-decoder": ("tokenizer", *_GPT[:-1], "training", "encoder_decoder"),
    "llama": ("tokenizer", *_GPT, "training", "generation", "llama_layers", "llama"),
    "imported llama": (*_GPT, "generation", "bpe", "llama_layers", "llama"),
}


def kind_of(model: Checkpoint | ImportedModel) -> str:
    """Return the kind of a model whose modules are needed to compute with it."""
    return f"imported {model.description.kind}" if isinstance(model, ImportedModel) else model.settings.kind


@dataclass(frozen=True)
class ModuleSelection:
    """The modules a model runs on."""

    folder: Path
    student: tuple[str, ...]  # names of the modules that the student wrote
    official: tuple[str, ...]  # names of the modules taken from the official solution

    def describe(self) -> str:
        """Return a line that says whose code runs."""
        if not self.student:
            return "Using the official solution."
        if not self.official:
            return "Using your code for every assignment that this model needs."
        student, official = ", ".join(self.student), ", ".join(self.official)
        return f"Using your code for {student}; the official solution for {official}, until yours pass."


class NoPassingModules(UsageError):
    """No model can be made of the student's code yet; `reason` says why, without a command."""

    def __init__(self, reason: str, command: str) -> None:
        super().__init__(f"{reason}. See what is missing: {command}. Or use the official solution: --solution")
        self.reason = reason


@contextmanager
def use_modules(folder: Path, solution: bool, kind: str = "gpt", *, check: bool = True) -> Iterator[ModuleSelection]:
    """Provide the official modules if `solution`; else the student's where they pass, official ones for the rest.

    Checks those that are not yet known to pass, if it may `check`. A bigram model is a single assignment, so it is
    never replaced by the official solution.
    """
    if solution:
        yield ModuleSelection(bundled("solutions"), (), tuple(TRANSFORMER.modules))
        return
    needed = MODULES[kind]
    functions = tuple(f.qualified for name in needed for f in TRANSFORMER.modules[name].functions if not f.bonus)
    workspace = Workspace.open(folder, TRANSFORMER).require_assignments()
    written = tuple(name for name in functions if not workspace.snapshot.is_stub(name))
    statuses = statuses_of(workspace, written) if check else workspace.statuses
    passing = progress.passed_assignments(statuses, TRANSFORMER)
    given = workspace.state.curriculum.given_modules  # solved for the student
    student = tuple(name for name in needed if name in passing and name not in given)
    official = tuple(name for name in needed if name not in student)
    if kind == "bigram" and "bigram" not in student:
        reason = "a bigram model runs on your own functions, and not all of them pass yet"
        raise NoPassingModules(reason, "headway check bigram")
    if not student:
        raise NoPassingModules("none of the assignments that this model needs passes yet", "headway check")
    if not official:
        yield ModuleSelection(workspace.module_folder, student, official)
        return
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        for file, content in read_modules(workspace.module_folder):
            if file.removesuffix(".py") not in {*TRANSFORMER.modules} - {*student}:
                Path(scratch, file).write_bytes(content)
        for name in official:
            shutil.copyfile(bundled("solutions") / f"{name}.py", Path(scratch) / f"{name}.py")
        yield ModuleSelection(Path(scratch), student, official)


def award_loss_badge(folder: Path, modules: ModuleSelection, run: Checkpoint) -> list[str]:
    """Award the badge for the first falling loss, if the model is the student's. Return the lines to show."""
    is_own = run.settings.kind in modules.student
    return _award(folder, progress.LOSS_BADGE) if is_own and progress.loss_has_fallen(run.losses) else []


def award_name_badge(folder: Path, modules: ModuleSelection, run: Checkpoint, text: str) -> list[str]:
    """Award the badge for the first invented name, if a model of the student's was trained on names."""
    is_known = run.settings.data in datasets.DATASETS  # A file of the user's may be gone.
    if run.settings.kind not in modules.student or not is_known or not datasets.has_lines(run.settings):
        return []
    name = progress.first_new_line(text, datasets.text_of(run.settings))
    return _award(folder, (progress.NAME_BADGE[0], f"{progress.NAME_BADGE[1]}: {name}")) if name else []


def _award(folder: Path, badge: tuple[str, str]) -> list[str]:
    workspace = Workspace.open(folder, TRANSFORMER)
    if not workspace.is_initialized:
        return []
    lines = progress.award_badge(workspace.state, *badge)
    if lines:
        workspace.state.save()
    return lines

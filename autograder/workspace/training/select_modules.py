"""Which modules a student's model runs on: their own as soon as they pass, official ones in place of the rest."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.core.files import read_modules
from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum.stubs import bundled
from autograder.errors import UsageError
from autograder.workspace import badges, progress
from autograder.workspace.check import statuses_of
from autograder.workspace.training import datasets
from autograder.workspace.training.checkpoint import Checkpoint
from autograder.workspace.workspace import Workspace

UNUSED = "encoder_decoder"  # the one assignment that a GPT is not built on


@dataclass(frozen=True)
class Modules:
    """A folder to run, and whose each module in it is."""

    folder: Path
    own: tuple[str, ...]
    official: tuple[str, ...]

    def describe(self) -> str:
        """Whose is what, in one line; empty if all of it is official by wish."""
        if not self.own:
            return "the official solution"
        if not self.official:
            return "all of it is yours"
        return f"yours: {', '.join(self.own)} · official, until yours pass: {', '.join(self.official)}"


@contextmanager
def modules(folder: Path) -> Iterator[Modules]:
    """The modules to run for the workspace `folder`; what is not known to pass is checked first.

    Raises:
        UsageError: if none of the student's modules passes yet.
    """
    needed = [name for name in TRANSFORMER.modules if name != UNUSED]
    functions = tuple(f.qualified for name in needed for f in TRANSFORMER.modules[name].functions if not f.bonus)
    workspace = Workspace.open(folder, TRANSFORMER)
    statuses = statuses_of(workspace, tuple(name for name in functions if not workspace.snapshot.is_stub(name)))
    passing = progress.passed_assignments(statuses, TRANSFORMER)
    own = tuple(name for name in needed if name in passing)
    official = tuple(name for name in needed if name not in passing)
    if not own:
        raise UsageError(
            "none of your assignments passes yet, so there is nothing of yours to run: headway check. "
            "The official solution: headway train --solution"
        )
    if not official:
        yield Modules(folder, own, official)
        return
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        for file, content in read_modules(folder):
            module = file.removesuffix(".py")
            if module in own or module not in TRANSFORMER.modules:
                Path(scratch, file).write_bytes(content)
        for name in official:
            shutil.copyfile(bundled("solutions") / f"{name}.py", Path(scratch) / f"{name}.py")
        yield Modules(Path(scratch), own, official)


def award_for_training(folder: Path, mine: Modules, run: Checkpoint) -> list[str]:
    """The badge of the first loss that falls, if the model is the student's own."""
    return _award(folder, badges.LOSS) if "gpt" in mine.own and badges.loss_has_fallen(run.losses) else []


def award_for_text(folder: Path, mine: Modules, run: Checkpoint, text: str) -> list[str]:
    """The badge of the first invented name, if it was trained on names and the model is the student's own."""
    if "gpt" not in mine.own or not datasets.DATASETS[run.settings.data].lines:
        return []
    name = badges.first_new_line(text, datasets.load(run.settings.data, run.settings.seed))
    return _award(folder, (badges.NAME[0], f"{badges.NAME[1]}: {name}")) if name else []


def _award(folder: Path, badge: tuple[str, str]) -> list[str]:
    workspace = Workspace.open(folder, TRANSFORMER)
    if not workspace.is_initialized:
        return []
    lines = badges.award(workspace.state, *badge)
    if lines:
        workspace.state.save()
    return lines

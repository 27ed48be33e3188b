"""List the models in a folder: checkpoints of `headway train`, and imported models. Only their headers are read."""

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from autograder.core import tensor_files
from autograder.core.output_files import require_no_work
from autograder.core.tensor_files import StoredTensor
from autograder.core.text import clean, counted
from autograder.courses.transformer.common.pretrained.description import FORMAT
from autograder.courses.transformer.training.hyperparameters import changed_settings
from autograder.documents.records import ModelSummary
from autograder.errors import UsageError
from autograder.models.pretrained import model_file
from autograder.models.training import checkpoint, datasets

SUFFIX = ".safetensors"
_NAME = re.compile(r"\w+(?:[._-]\w+)*", re.ASCII)
LONGEST_NAME = 100


def model_path(folder: Path, name: str) -> Path:
    """Return the path of a model in `folder`, whether or not it exists; raise UsageError unless it is a plain name."""
    file = name if name.endswith(SUFFIX) else name + SUFFIX
    if len(file) > LONGEST_NAME or not _NAME.fullmatch(file):
        raise UsageError(
            f"{name[:LONGEST_NAME]!r} cannot be the name of a checkpoint. Use letters, digits, and single . _ - between"
        )
    path = folder / file
    if path.is_symlink():
        raise UsageError(f"{file} is a link. Give the name of a file in the workspace")
    if path.exists() and not path.is_file():
        raise UsageError(f"{file} is not a plain file. Choose another name")
    return path


def unused_path(path: Path) -> Path:
    """Return the first path that does not exist with a number from 2 at the end of its name."""
    others = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in itertools.count(2))
    return next(other for other in others if not (other.exists() or other.is_symlink()))


def model_summaries(folder: Path) -> list[ModelSummary]:
    """Return a summary of each model in the folder, the latest first."""
    names = [path.name for path in folder.glob(f"*{SUFFIX}") if len(path.name) <= LONGEST_NAME]
    paths = [folder / name for name in names if _NAME.fullmatch(name)]
    summaries = [summary(path) for path in paths if path.is_file() and not path.is_symlink()]
    return sorted(summaries, key=lambda model: (-model.changed, model.name))


def summary(path: Path) -> ModelSummary:
    """Return the summary of the model in a file."""
    try:
        changed = path.stat().st_mtime
        file = tensor_files.read_header(path)
        if checkpoint.file_format(file) == FORMAT:
            model = model_file.read_description(file)
            about = f"imported from {clean(model.source, 80)}: {model.config['n_layers']} blocks"
            return ModelSummary(path.name, "imported", changed, f"{about}, width {model.config['d_model']}")
        header = checkpoint.read_header(file)
        settings = header.settings
        losses = _last_rows(file.tensors["history.losses"], checkpoint.LOSSES)
        validation = _last_rows(file.tensors["history.validation"], 1)
        return ModelSummary(
            name=path.name,
            kind=settings.kind,
            changed=changed,
            about=clean(f"{settings.preset} on {datasets.shown_name(settings.data)}", 200),
            step=header.step,
            steps=settings.steps,
            loss=finite(losses.mean()) if losses.size else None,
            validation=finite(validation[-1, 1]) if validation.size else None,
            seconds=finite(header.seconds or math.nan),
            parameters=sum(math.prod(file.tensors[f"params.{name}"].shape) for name in header.order),
            changed_settings=tuple(clean(text, 100) for text in changed_settings(settings)),
        )
    except (OSError, *checkpoint.DAMAGED) as error:
        return ModelSummary(path.name, "", 0.0, f"not a model of Headway ({type(error).__name__})")


def require_new_file(out: Path, force: bool) -> None:
    """Raise UsageError if a model would replace a file, unless that is wanted; the message says what the file is."""
    require_no_work(out, "--out FILE")
    if out.is_file() and out.stat().st_size and not force:
        model = summary(out)
        about = model.about if model.step is None else f"{model.about}, {counted(model.step, 'step')}"
        raise UsageError(f"{out} exists: {about}. Name another file: --out FILE. To replace it: --force")


def finite(number: float) -> float | None:
    """Return a number as JSON can hold it: None if it is infinite or nan."""
    return float(number) if math.isfinite(number) else None


def _last_rows(tensor: StoredTensor, count: int) -> "np.ndarray[Any, np.dtype[Any]]":
    """Return the last numbers of a tensor with one axis, or rows of one with two; the rest is not read."""
    numbers = np.frombuffer(tensor.last_bytes(count), tensor_files.DTYPES[tensor.dtype])
    return numbers.reshape(-1, *tensor.shape[1:])

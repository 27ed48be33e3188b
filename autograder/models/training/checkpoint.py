"""Checkpoints of training runs: one safetensors file with parameters, optimizer state, history and settings."""

import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from autograder.core import tensor_files
from autograder.core.files import report_write_error
from autograder.core.tensor_files import TensorFile
from autograder.core.text import clean, counted
from autograder.core.wire_format import Config
from autograder.courses.transformer.training import hyperparameters
from autograder.courses.transformer.training.settings import TrainingSettings
from autograder.documents.records import LossPoint
from autograder.errors import UsageError

FORMAT = "headway.checkpoint/1"
LARGEST = 4 << 30  # bytes: more than the largest model that can be trained has, with its averages
MOST_STEPS = 10_000_000
# What reading a file of another kind, or a damaged one, raises.
DAMAGED = (msgspec.MsgspecError, ValueError, KeyError, OverflowError, RecursionError, UsageError)
MOST_POINTS = 400  # of a loss curve
LOSSES = 100  # how many of the latest steps the training loss of a run averages
_NAMES = {code: name for name, code in tensor_files.DTYPES.items()}
Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]


class _Format(msgspec.Struct):
    format: str


class Header(msgspec.Struct, tag_field="format", tag=FORMAT, forbid_unknown_fields=True):
    """Everything in the file of a checkpoint but its tensors."""

    step: Annotated[int, Meta(ge=0, le=MOST_STEPS)]
    chars: list[Annotated[str, Meta(min_length=1, max_length=1)]]
    settings: TrainingSettings
    order: list[str]  # of the parameters in the flat optimizer buffer
    adamw_step: Annotated[int, Meta(ge=0)]
    seconds: Annotated[float, Meta(ge=0)] | None
    student: list[str] | None


@dataclass
class Checkpoint:
    """The state of a run after `step` steps."""

    settings: TrainingSettings
    chars: list[str]  # the vocabulary, in the order of the ids
    step: int
    params: Arrays
    state: dict[str, Any]  # the state of AdamW: `step`, and `m` and `v` by parameter name
    losses: list[float] = field(default_factory=list)  # the training loss of each step, in nats per character
    validation: list[tuple[int, float]] = field(default_factory=list)  # pairs (step, validation loss)
    seconds: float | None = None  # that the steps and measurements took; None in files that do not say
    student: list[str] | None = None  # the assignments whose code was the student's in all steps; None if unknown

    @property
    def config(self) -> Config:
        """Return the `GPTConfig` of a GPT, in the form in which it is sent to the student's process."""
        return Config("gpt", "GPTConfig", {"vocab_size": len(self.chars), **self.settings.model})

    def require_known_characters(self, text: str) -> None:
        """Raise UsageError if a character of `text` is not in the vocabulary."""
        if unknown := sorted(set(text) - set(self.chars)):
            known = "".join(self.chars)
            raise UsageError(f"{unknown[0]!r} is not in the model's vocabulary. Use only these characters: {known!r}")

    def curve(self) -> list[LossPoint]:
        """Return some points of the loss curve, like those that a run reports."""
        every = max(1, math.ceil(len(self.losses) / MOST_POINTS))
        validation = {step: loss for step, loss in self.validation if math.isfinite(loss)}
        wanted = {*range(every, len(self.losses) + 1, every), len(self.losses), *validation}
        steps = sorted(step for step in wanted if 0 < step <= self.step)
        means = {step: float(np.mean(self.losses[max(0, step - LOSSES) : step])) for step in steps}
        return [LossPoint(step, loss, validation.get(step)) for step, loss in means.items() if math.isfinite(loss)]


def require_writable(path: Path) -> None:
    """Raise UsageError, before a long run, if its checkpoint cannot be written."""
    existed = path.exists()
    with report_write_error(path, "Name another file: --out FILE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent), path.open("ab"):
            pass
        if not existed and not path.stat().st_size:  # otherwise another run has just written it
            path.unlink()


def save(path: Path, run: Checkpoint) -> None:
    """Write the checkpoint atomically: if the process is killed meanwhile, the old file stays."""
    arrays = {f"params.{name}": np.asarray(array) for name, array in run.params.items()}
    for average in ("m", "v"):
        arrays |= {f"adamw.{average}.{name}": np.asarray(array) for name, array in run.state.get(average, {}).items()}
    arrays["history.losses"] = np.asarray(run.losses, np.float64)
    arrays["history.validation"] = np.asarray(run.validation, np.float64).reshape(-1, 2)
    step = run.state.get("step", 0)
    header = Header(run.step, run.chars, run.settings, list(run.params), step, run.seconds, run.student)
    metadata = {"headway": msgspec.json.encode(header).decode()}
    tensors = {name: (_NAMES[array.dtype.str], array.shape) for name, array in arrays.items()}
    tensor_files.write_tensors(path, tensors, metadata, (array.tobytes() for array in arrays.values()))


def file_format(file: TensorFile) -> str:
    """Return the format that a model of Headway names; raise an error of `DAMAGED` if it is none."""
    return msgspec.json.decode(file.metadata["headway"], type=_Format).format


def read_header(file: TensorFile) -> Header:
    """Return the header of a checkpoint; raise such an error unless it fits the tensors of the file."""
    if file_format(file) != FORMAT:
        raise ValueError(f"its format is {file_format(file)[:40]!r}")
    header = msgspec.json.decode(file.metadata["headway"], type=Header)
    hyperparameters.require_valid(header.settings.model, header.settings.kind)
    if len({*header.chars}) < len(header.chars) or len({*header.order}) < len(header.order):
        raise ValueError("a character or a parameter occurs twice")
    prefixes = ("params.", "adamw.m.", "adamw.v.") if header.adamw_step else ("params.",)
    for name in header.order:
        if len({file.tensors[f"{prefix}{name}"].shape for prefix in prefixes}) > 1:
            raise ValueError(f"{clean(name, 80)} has averages of another shape")
    losses, validation = (file.tensors[f"history.{name}"] for name in ("losses", "validation"))
    if len(losses.shape) != 1 or len(validation.shape) != 2 or validation.shape[1] != 2:
        raise ValueError("the history has another shape")
    if max(losses.shape[0], validation.shape[0]) > header.step:
        raise ValueError(f"its history is longer than {counted(header.step, 'step')}")
    if wrong := {tensor.dtype for tensor in file.tensors.values()} - {"F32", "F64"}:
        raise ValueError(f"a tensor has the dtype {min(wrong)}")
    if sum(tensor.size for tensor in file.tensors.values()) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST >> 30} GiB")
    return header


def load(path: Path) -> Checkpoint:
    """Read a checkpoint."""
    try:
        file = tensor_files.read_header(path.resolve())
        header = read_header(file)

        def array(name: str) -> "np.ndarray[Any, np.dtype[Any]]":
            tensor = file.tensors[name]
            dtype, count = tensor_files.DTYPES[tensor.dtype], math.prod(tensor.shape)
            return np.fromfile(tensor.path, dtype, count, offset=tensor.offset).reshape(tensor.shape)

        averages = ("m", "v") if header.adamw_step else ()
        state: dict[str, Any] = {"step": header.adamw_step} if header.adamw_step else {}
        state |= {average: {name: array(f"adamw.{average}.{name}") for name in header.order} for average in averages}
        return Checkpoint(
            settings=header.settings,
            chars=header.chars,
            step=header.step,
            params={name: array(f"params.{name}") for name in header.order},
            state=state,
            losses=array("history.losses").tolist(),
            validation=[(int(step), float(loss)) for step, loss in array("history.validation")],
            seconds=header.seconds,
            student=header.student,
        )
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). Train a model first: headway train") from None
    except DAMAGED as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{path} is not a checkpoint of headway train: {clean(reason, 300)}") from None

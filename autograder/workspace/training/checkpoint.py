"""A training run on disk: parameters, optimiser state, history, settings and vocabulary in one safetensors file."""

import json
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from autograder.core.files import write_atomically
from autograder.errors import UsageError, missing_package
from autograder.workspace.training import synthetic_corpus

FORMAT = "headway.checkpoint/1"
Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]


@dataclass
class Settings:
    """What a run was started with; a resumed run goes on with the same."""

    preset: str
    data: str
    model: dict[str, int | float | bool]
    batch_size: int
    lr: float
    schedule: str
    steps: int
    seed: int
    prompt: str
    data_sha256: str

    def entropy_floor(self) -> float | None:
        """The smallest expected loss there can be, where it is known: for the synthetic language."""
        if self.data != "synthetic":
            return None
        return synthetic_corpus.entropy_per_character(context=int(self.model["block_size"]))


@dataclass
class Checkpoint:
    """The state of a run after `step` steps.

    Attributes:
        chars: the vocabulary, in the order of the ids.
        params: the model's parameters by name.
        state: AdamW's: `step`, and `m` and `v` by parameter name.
        losses: the loss of each step, float64.
        validation: rows (step, loss).
    """

    settings: Settings
    chars: list[str]
    step: int
    params: Arrays
    state: dict[str, Any]
    losses: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)


def require_place(path: Path) -> None:
    """See that a checkpoint can be written, before the hours whose outcome it is to hold.

    Raises:
        UsageError: if it cannot.
    """
    _library()
    there = path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent), path.open("ab"):
            pass
        if not there:
            path.unlink()
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror}). Name another file: --out FILE") from None


def save(path: Path, run: Checkpoint) -> None:
    """Write the checkpoint; a run that is killed in the middle of it leaves the old file."""
    safetensors = _library()
    tensors = {f"params.{name}": np.ascontiguousarray(array) for name, array in run.params.items()}
    for average in ("m", "v"):
        for name, array in run.state.get(average, {}).items():
            tensors[f"adamw.{average}.{name}"] = np.ascontiguousarray(array)
    tensors["history.losses"] = np.asarray(run.losses, np.float64)
    tensors["history.validation"] = np.asarray(run.validation, np.float64).reshape(-1, 2)
    about = {"format": FORMAT, "step": run.step, "chars": run.chars, "settings": asdict(run.settings)}
    about["order"] = list(run.params)  # the order of the names is the order of the flat optimiser buffer
    about["adamw_step"] = run.state.get("step", 0)
    write_atomically(path, safetensors.save(tensors, metadata={"headway": json.dumps(about)}))


def load(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        UsageError: if there is none, or the file is something else.
    """
    safetensors = _library()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). Train a model first: headway train") from None
    try:
        tensors = safetensors.load(content)
        size = int.from_bytes(content[:8], "little")
        about = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["headway"])
        if about["format"] != FORMAT:
            raise ValueError(about["format"])
        state: dict[str, Any] = {"step": about["adamw_step"]} if about["adamw_step"] else {}
        for average in ("m", "v") if state else ():
            state[average] = {name: tensors[f"adamw.{average}.{name}"] for name in about["order"]}
        return Checkpoint(
            settings=Settings(**about["settings"]),
            chars=about["chars"],
            step=about["step"],
            params={name: tensors[f"params.{name}"] for name in about["order"]},
            state=state,
            losses=tensors["history.losses"].tolist(),
            validation=[(int(step), float(loss)) for step, loss in tensors["history.validation"]],
        )
    except Exception as error:  # safetensors and a strange header raise many things; all mean the same
        raise UsageError(f"{path} is not a checkpoint of headway train ({type(error).__name__}: {error})") from None


def _library() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise missing_package("checkpoints need safetensors", "train") from None
    return safetensors.numpy

"""Checkpoints of training runs: one safetensors file with parameters, optimizer state, history and settings."""

import json
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from autograder.core.files import report_write_error, write_atomically
from autograder.errors import UsageError, missing_package
from autograder.workspace.training import synthetic_corpus

FORMAT = "headway.checkpoint/1"
Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]


@dataclass
class TrainingSettings:
    """The settings of a run. A resumed run keeps those it was started with."""

    preset: str
    data: str  # the name of a dataset, or the path of a file as the user gave it
    model: dict[str, int | float | bool | str]
    batch_size: int
    lr: float
    schedule: str
    steps: int
    seed: int
    prompt: str
    data_sha256: str
    kind: str = "gpt"  # of model; see `presets.py`
    shuffle_lines: bool = False  # of a file of the user's

    def entropy_floor(self) -> float | None:
        """Return the smallest possible expected loss if it is known: for the synthetic language only."""
        context = int(self.model["block_size"])
        return synthetic_corpus.entropy_per_character(context) if self.data == "synthetic" else None


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

    def require_known_characters(self, text: str) -> None:
        """Raise UsageError if a character of `text` is not in the vocabulary."""
        if unknown := sorted(set(text) - set(self.chars)):
            known = "".join(self.chars)
            raise UsageError(f"{unknown[0]!r} is not in the model's vocabulary. Use only these characters: {known!r}")


def require_writable(path: Path) -> None:
    """Raise UsageError, before a long run, if its checkpoint cannot be written."""
    _import_safetensors()
    existed = path.exists()
    with report_write_error(path, "Name another file: --out FILE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent), path.open("ab"):
            pass
        if not existed:
            path.unlink()


def save(path: Path, run: Checkpoint) -> None:
    """Write the checkpoint atomically: if the process is killed meanwhile, the old file stays."""
    safetensors = _import_safetensors()
    tensors = {f"params.{name}": np.ascontiguousarray(array) for name, array in run.params.items()}
    for average in ("m", "v"):
        for name, array in run.state.get(average, {}).items():
            tensors[f"adamw.{average}.{name}"] = np.ascontiguousarray(array)
    tensors["history.losses"] = np.asarray(run.losses, np.float64)
    tensors["history.validation"] = np.asarray(run.validation, np.float64).reshape(-1, 2)
    header = {"format": FORMAT, "step": run.step, "chars": run.chars, "settings": asdict(run.settings)}
    header["order"] = list(run.params)  # the order of the parameters in the flat optimizer buffer
    header["adamw_step"] = run.state.get("step", 0)
    header |= {"seconds": run.seconds, "student": run.student}
    write_atomically(path, safetensors.save(tensors, metadata={"headway": json.dumps(header)}))


def load(path: Path) -> Checkpoint:
    """Read a checkpoint."""
    safetensors = _import_safetensors()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). Train a model first: headway train") from None
    try:
        tensors = safetensors.load(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["headway"])
        if header["format"] != FORMAT:
            raise ValueError(header["format"])
        state: dict[str, Any] = {"step": header["adamw_step"]} if header["adamw_step"] else {}
        for average in ("m", "v") if state else ():
            state[average] = {name: tensors[f"adamw.{average}.{name}"] for name in header["order"]}
        return Checkpoint(
            settings=TrainingSettings(**header["settings"]),
            chars=header["chars"],
            step=header["step"],
            params={name: tensors[f"params.{name}"] for name in header["order"]},
            state=state,
            losses=tensors["history.losses"].tolist(),
            validation=[(int(step), float(loss)) for step, loss in tensors["history.validation"]],
            seconds=header.get("seconds"),
            student=header.get("student"),
        )
    except Exception as error:  # a file of another kind raises various errors; all mean the same
        raise UsageError(f"{path} is not a checkpoint of headway train ({type(error).__name__}: {error})") from None


def _import_safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise missing_package("checkpoints need safetensors", "train") from None
    return safetensors.numpy

"""Measure how fast a student's GPT trains compared with PyTorch: `headway bench`."""

import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from autograder import __version__
from autograder.core.current_folder import python_command
from autograder.errors import HeadwayError, UsageError, missing_package
from autograder.models.training import runs
from autograder.models.training.trainer import Trainer
from autograder.report.speed_comparison import SpeedComparison
from autograder.sandbox.process import start_workers
from autograder.sandbox.server import environment_for_numpy

SCHEMA = "headway.bench/1"
COMPARED_STEPS = 20
MAX_LOSS_DIFFERENCE = 1e-3  # of the first steps; float32 rounding accounts for about 1e-6
# What makes a function faster, measured on the official solution at three sizes. The first entry with a word that
# occurs in the function's name applies.
HINTS = (
    (("gelu", "activat"), "x**3 and t**2 are slow powers: x * x * x is up to ten times faster in float32"),
    (
        ("linear",),
        "flatten the leading axes, so that one matrix product computes all rows; einsum is 2 to 4 times slower",
    ),
    (("attention_backward",), "matrix products are faster than einsum; reuse what the forward pass has cached"),
    (("attention",), "q @ k.swapaxes(-1, -2) is faster than einsum; scale q, which is smaller than the scores"),
    (("softmax",), "compute in place (np.exp(z, out=z), z /= …): each temporary array is one more pass over memory"),
    (("norm_backward",), "means along the last axis are faster as a matrix-vector product than with .mean"),
    (("clip_grad_norm",), "np.vdot(g, g) reads each gradient once and allocates no temporary array"),
    (("norm",), "avoid accidental float64: np.sqrt of a Python number or a float64 eps converts everything"),
    (("embed_tokens_backward",), "np.add.at is slow: a matrix product with one_hot is several times faster"),
    (("adamw",), "one flat buffer for all parameters turns hundreds of small operations into a few large ones"),
)
DEFAULT_HINT = "look for Python loops over positions or heads, einsum, float64, and needless copies of arrays"

TrainSteps = Callable[[int], tuple[float, list[float]]]  # number of steps -> seconds, losses


def hint_for(function: str) -> str:
    """Return what usually makes a function with this name faster."""
    return next((hint for words, hint in HINTS if any(word in function for word in words)), DEFAULT_HINT)


def leaderboard_record(comparison: SpeedComparison, name: str) -> dict[str, Any]:
    """Return the entry of `name` for a class's leaderboard."""
    return {
        "schema": SCHEMA,
        "name": name,
        "preset": comparison.preset,
        "tokens_per_second": comparison.tokens_per_second,
        "torch_tokens_per_second": comparison.torch_tokens_per_second,
        "ratio": comparison.ratio,
        "apart": comparison.loss_difference,
        "functions": {function: round(share, 4) for function, share in comparison.functions.items()},
        "slowest": comparison.slowest,
        "hint": comparison.hint,
        "own": comparison.student_modules,
        "kit": __version__,  # codespell:ignore kit
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": importlib.metadata.version("torch"),
        "machine": _processor_name(),
    }


def _processor_name() -> str:
    """Return the processor's name as precisely as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n")
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def compare_with_torch(
    folder: Path, preset: str, rounds: int, seconds: float, student_modules: tuple[str, ...] = ()
) -> SpeedComparison:
    """Train with the modules in `folder` and with PyTorch in turn, from equal parameters on equal batches.

    A measurement takes about `seconds`. Only `student_modules` (all if empty) are suggested for improvement.
    """
    if importlib.util.find_spec("torch") is None:
        raise missing_package("headway bench compares with PyTorch", "torch")
    data = "synthetic" if preset == "synthetic" else "names"
    settings = runs.new_settings(preset, runs.ChosenSettings(data))
    if settings.kind != "gpt":
        raise UsageError(f"the preset {preset} is not a GPT. Choose another: headway bench --preset names")
    tokens_per_step = settings.batch_size * int(settings.model["block_size"])
    with start_workers() as workers, closing(Trainer(workers, folder, settings)) as trainer:
        with _torch_process(trainer) as torch_steps:
            _, losses = trainer.timed_steps(COMPARED_STEPS)
            _, torch_losses = torch_steps(COMPARED_STEPS)
            loss_difference = max(abs(a - b) for a, b in zip(losses, torch_losses, strict=True))
            if not loss_difference < MAX_LOSS_DIFFERENCE:
                raise UsageError(
                    f"in the first {COMPARED_STEPS} steps, your loss differs from PyTorch's by "
                    f"{loss_difference:.1e}, so the speeds cannot be compared. Run: headway check training gpt"
                )
            contestants: tuple[TrainSteps, TrainSteps] = (trainer.timed_steps, torch_steps)
            counts = [max(2, round(5 * seconds / run(5)[0])) for run in contestants]
            # Each round measures both in turn, so that other load on the machine affects both alike.
            speeds = [
                [tokens_per_step * count / run(count)[0] for run, count in zip(contestants, counts, strict=True)]
                for _ in range(rounds)
            ]
        functions = trainer.profile(max(2, counts[0] // 2))
    candidates = [name for name in functions if not student_modules or name.partition(".")[0] in student_modules]
    slowest = max(candidates, key=lambda name: functions[name], default="")
    ratios = [speed / torch_speed for speed, torch_speed in speeds]
    # Both speeds come from one round, so that they agree with the ratio reported beside them.
    speed, torch_speed = speeds[ratios.index(statistics.median_low(ratios))]
    return SpeedComparison(
        preset=preset,
        tokens_per_second=speed,
        torch_tokens_per_second=torch_speed,
        ratios=tuple(ratios),
        loss_difference=loss_difference,
        functions=functions,
        slowest=slowest,
        hint=hint_for(slowest),
        student_modules=student_modules,
    )


@contextmanager
def _torch_process(trainer: Trainer) -> Iterator[TrainSteps]:
    """Start a PyTorch training process with the trainer's parameters; provide a function that runs its steps."""
    config = {name: getattr(trainer.settings, name) for name in ("seed", "batch_size", "lr", "model")}
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        path = Path(scratch) / "start.npz"
        arrays: dict[str, Any] = {f"params.{name}": array for name, array in trainer.checkpoint().params.items()}
        np.savez(path, **arrays, ids=trainer.tokens(), settings=np.array(json.dumps(config)))
        with subprocess.Popen(
            python_command("-m", "autograder.models.training.torch_baseline", str(path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment_for_numpy()},
        ) as process:
            assert process.stdin and process.stdout and process.stderr
            requests, replies, errors = process.stdin, process.stdout, process.stderr

            def train_steps(count: int) -> tuple[float, list[float]]:
                try:
                    print(count, file=requests, flush=True)
                    seconds, losses = json.loads(replies.readline())
                except (OSError, ValueError):
                    lines = errors.read().strip().splitlines()
                    raise HeadwayError(f"the PyTorch process ended: {lines[-1] if lines else 'no message'}") from None
                return seconds, losses

            try:
                yield train_steps
            finally:
                requests.close()
                process.kill()

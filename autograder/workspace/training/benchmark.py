"""`headway bench`: how fast the student's own GPT trains beside PyTorch, and which function to make faster."""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from autograder import __version__
from autograder.errors import HeadwayError, UsageError, missing_package
from autograder.report.benchmark import SpeedComparison
from autograder.sandbox import Workers
from autograder.sandbox.process import environment_for_numpy
from autograder.workspace.training import runs
from autograder.workspace.training.trainer import Trainer

SCHEMA = "headway.bench/1"
COMPARED_STEPS = 20
SAME = 1e-3  # how far apart the losses of the first steps may be; float32 leaves about 1e-6
# Measured on the kit's own solution, at three sizes: what it costs to write it the slow way.
# The first word that the slowest function's name holds decides.
HINTS = {
    "gelu": "x**3 and t**2 are slow powers: x * x * x is up to ten times faster in float32",
    "activat": "x**3 and t**2 are slow powers: x * x * x is up to ten times faster in float32",
    "linear": "flatten the leading axes to one, so that one product does all rows; einsum is 2 to 4 times slower",
    "attention_backward": "matrix products beat einsum; reuse what the forward pass kept",
    "attention": "q @ k.swapaxes(-1, -2) beats einsum by half; scale q, which is smaller than the scores",
    "softmax": "compute in place (np.exp(z, out=z), z /= …): each temporary array is one more pass over memory",
    "norm_backward": "means along the last axis as a matrix–vector product are faster than .mean",
    "clip_grad_norm": "np.vdot(g, g) reads each gradient once, and makes no temporary array",
    "norm": "watch for float64 creeping in: np.sqrt of a Python number or a float64 eps widens everything",
    "embed_tokens_backward": "np.add.at is slow: a product with one_hot is several times faster",
    "adamw": "one flat buffer for all parameters turns hundreds of small operations into a few large ones",
}
DEFAULT_HINT = "look for Python loops over positions or heads, einsum, float64, and arrays that are copied needlessly"


def hint_for(function: str) -> str:
    """What usually makes a function of this name faster."""
    return next((hint for word, hint in HINTS.items() if word in function), DEFAULT_HINT)


def leaderboard(found: SpeedComparison, name: str) -> dict[str, Any]:
    """One line for the class."""
    import importlib.metadata

    versions = {"kit": __version__, "python": platform.python_version(), "numpy": np.__version__}
    record: dict[str, Any] = {"schema": SCHEMA, "name": name, **asdict(found), **versions}
    record["functions"] = {function: round(share, 4) for function, share in found.functions.items()}
    return {**record, "torch": importlib.metadata.version("torch"), "machine": _machine()}


def _machine() -> str:
    """The processor's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n")
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def compare(folder: Path, preset: str, rounds: int, seconds: float, own: tuple[str, ...] = ()) -> SpeedComparison:
    """Train a few steps in turn, here and there, from the same parameters on the same batches.

    Args:
        folder: the modules to run.
        seconds: how long each turn takes, about.

    Raises:
        UsageError: if PyTorch is missing, or the two do not compute the same.
    """
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise missing_package("headway bench compares with PyTorch", "torch")
    data = "synthetic" if preset == "synthetic" else "given-names"
    settings = runs.new_settings(preset, data, None, "constant", 0)
    tokens = settings.batch_size * int(settings.model["block_size"])
    with Workers() as workers:
        trainer = Trainer(workers, folder, settings)
        try:
            about = {
                "seed": settings.seed,
                "batch_size": settings.batch_size,
                "lr": settings.lr,
                "model": settings.model,
            }
            with _eager(trainer, about) as eager:
                _, mine = trainer.timed_steps(COMPARED_STEPS)
                _, theirs = eager(COMPARED_STEPS)
                apart = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
                if not apart < SAME:
                    raise UsageError(
                        f"after {COMPARED_STEPS} steps your loss is {apart:.1e} away from PyTorch's, so the two do not "
                        "compute the same. Look first at: headway check training gpt"
                    )
                taken = [trainer.timed_steps(5)[0] / 5, eager(5)[0] / 5]
                counts = [max(2, round(seconds / each)) for each in taken]
                turns = [
                    (trainer.timed_steps(counts[0])[0] / counts[0], eager(counts[1])[0] / counts[1])
                    for _ in range(rounds)
                ]
            functions = trainer.profile(max(2, counts[0] // 2))
        finally:
            trainer.close()
    candidates = [name for name in functions if not own or name.partition(".")[0] in own]
    slowest = max(candidates, key=lambda name: functions[name], default="")
    return SpeedComparison(
        preset,
        tokens / statistics.median(a for a, _ in turns),
        tokens / statistics.median(b for _, b in turns),
        statistics.median(b / a for a, b in turns),
        apart,
        functions,
        slowest,
        hint_for(slowest),
        own,
    )


@contextmanager
def _eager(trainer: Trainer, about: dict[str, Any]) -> Iterator[Any]:
    """PyTorch in a process of its own, with the same first parameters; a function that lets it do some steps."""
    run = trainer.checkpoint()
    with tempfile.TemporaryDirectory(prefix="headway-") as scratch:
        path = Path(scratch) / "start.npz"
        arrays: dict[str, Any] = {f"params.{name}": array for name, array in run.params.items()}
        np.savez(path, **arrays, ids=trainer.tokens(), settings=np.array(json.dumps(about)))
        with subprocess.Popen(
            [sys.executable, "-m", "autograder.workspace.training.torch_baseline", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment_for_numpy()},
        ) as process:
            assert process.stdin and process.stdout and process.stderr

            def steps(count: int) -> tuple[float, list[float]]:
                assert process.stdin and process.stdout and process.stderr
                try:
                    print(count, file=process.stdin, flush=True)
                    taken, losses = json.loads(process.stdout.readline())
                except (OSError, ValueError):
                    words = process.stderr.read().strip().splitlines()
                    raise HeadwayError(f"PyTorch's process ended: {words[-1] if words else 'no word'}") from None
                return taken, losses

            try:
                yield steps
            finally:
                process.stdin.close()
                process.kill()

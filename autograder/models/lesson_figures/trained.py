"""Train the small GPT that some pictures show, on the names that come with Headway, and measure what they show."""

import copy
import json
from contextlib import closing
from typing import Any

import numpy as np

from autograder.course.stubs import bundled
from autograder.courses.transformer.common.figures.trained_model import FILE, measured
from autograder.courses.transformer.training.figures import MEAN_OF
from autograder.drawing.function_caller import FunctionCaller
from autograder.models.plot_data import functions_in_folder
from autograder.models.plots.inputs import PlotInputs
from autograder.models.plots.model import ForwardPass, ffn_values
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.models.training.settings import TrainingSettings

STEPS = 2_000
MODEL: dict[str, int | float | bool | str] = {
    "n_layers": 3, "n_heads": 4, "d_model": 32, "block_size": 16, "init_std": 0.08,
}  # fmt: skip
PROMPT, TEXT = "\nmar", "\nmarina\nmicha"
DATA = "names"


def measure() -> dict[str, Any]:
    """Train the model and return what the pictures show of it, rounded."""
    from autograder.models.training import datasets
    from autograder.models.training.trainer import Trainer
    from autograder.sandbox.process import start_workers
    from autograder.workspace.files import text_digest

    digest = text_digest(datasets.load(DATA))
    settings = TrainingSettings(DATA, DATA, MODEL, 32, 5e-3, "cosine", STEPS, 0, "\n", digest)
    solutions = bundled("solutions")
    with start_workers() as workers, closing(Trainer(workers, solutions, settings)) as trainer:
        untrained = copy.deepcopy(trainer.checkpoint())
        samples = [trainer.sample(60, Sampling(seed=1))]
        for _ in trainer.train(STEPS, 250):
            pass
        samples.append(trainer.sample(60, Sampling(seed=1)))
        run = trainer.checkpoint()
    with functions_in_folder(solutions) as functions:
        # One after the other: the process keeps the cache of the last call only.
        _, new_stream = _forward(functions, untrained, TEXT).residual_stream()
        trained = _forward(functions, run, TEXT)
        names, stream = trained.residual_stream()
        normed, added = ffn_values(trained)
        probabilities = [_next_probabilities(functions, state) for state in (untrained, run)]
    losses = np.reshape(run.losses, (-1, MEAN_OF)).mean(axis=1)
    return {
        "chars": run.chars,
        "samples": samples,
        "probabilities": _rounded(probabilities, 4),
        "losses": _rounded(losses, 3),
        "validation": [[step, round(loss, 3)] for step, loss in run.validation],
        "W_tok": _rounded(run.params["W_tok"], 3),
        "W_pos": _rounded(run.params["W_pos"], 3),
        "stages": names,
        "stream_variance": _rounded(stream.var(axis=-1).mean(axis=-1), 4),
        "added_variance": _rounded(np.diff(stream, axis=0).var(axis=-1).mean(axis=-1), 4),
        "new_stream_variance": _rounded(new_stream.var(axis=-1).mean(axis=-1), 4),
        "ffn_input": _rounded(normed[-1, 1:9], 2),
        "ffn_output": _rounded(added[-1, 1:9], 2),
    }


def _forward(functions: FunctionCaller, run: Checkpoint, text: str) -> ForwardPass:
    return ForwardPass(PlotInputs(functions, text, lambda: run))


def _next_probabilities(functions: FunctionCaller, run: Checkpoint) -> Any:
    logits = _forward(functions, run, PROMPT).logits[-1]
    return functions.array("softmax.softmax", logits.shape, logits)


def _rounded(values: Any, places: int) -> Any:
    return np.asarray(values, dtype=np.float64).round(places).tolist()


def write() -> None:
    """Train the model and write the file."""
    entries = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in measure().items())
    FILE.write_text("{\n" + ",\n".join(entries) + "\n}\n", "utf-8")


def tables() -> Checkpoint:
    """Return the tables of the trained model as a checkpoint."""
    seen = measured()
    settings = TrainingSettings(DATA, DATA, MODEL, 32, 5e-3, "cosine", STEPS, 0, "\n", "")
    params = {name: np.array(seen[name]) for name in ("W_tok", "W_pos")}
    return Checkpoint(settings, seen["chars"], STEPS, params, {})

"""Draw the pictures of the built-in course's lessons into `solutions/figures`: `make figures`.

The `figures.py` of each assignment describes them. Some show a small GPT that was trained on the names that come with
Headway: with --train, train it again, and measure what they show.
"""

import copy
import json
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from autograder.course import Plot
from autograder.course.stubs import bundled
from autograder.courses.transformer import TRANSFORMER
from autograder.courses.transformer.common.figures.maps import MissingPart, marked_map
from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.courses.transformer.common.figures.trained_model import FILE, measured
from autograder.courses.transformer.training.figures import MEAN_OF
from autograder.courses.transformer.training.settings import TrainingSettings
from autograder.drawing.function_caller import FunctionCaller, Picture
from autograder.models.plot_data import find_plot, functions_in_folder
from autograder.models.plots import draw
from autograder.models.plots.inputs import PlotInputs
from autograder.models.plots.model import ForwardPass, ffn_values
from autograder.models.training import datasets
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.models.training.trainer import Trainer
from autograder.sandbox.process import start_workers
from autograder.workspace.files import text_digest

STEPS = 2_000
MODEL: dict[str, int | float | bool | str] = {
    "n_layers": 3, "n_heads": 4, "d_model": 32, "block_size": 16, "init_std": 0.08,
}  # fmt: skip
SETTINGS = TrainingSettings("names", "names", MODEL, 32, 5e-3, "cosine", STEPS, 0, "\n", data_sha256="")
PROMPT, TEXT = "\nmar", "\nmarina\nmicha"


def pictures() -> dict[str, Picture]:
    """Return every picture by the name of its file: maps, and the FIGURES of a `figures.py`, functions or plots."""
    found: dict[str, Picture] = {}
    for module in TRANSFORMER.modules:
        found[f"map-{module}".replace("_", "-")] = partial(marked_map, module)
        for drawn in import_module(f"{TRANSFORMER.package}.{module}.figures").FIGURES:
            name = drawn if isinstance(drawn, str) else drawn.__name__.replace("_", "-")
            found[name] = drawn if callable(drawn) else partial(_plot, find_plot(drawn))
    return found


def _plot(plot: Plot, functions: FunctionCaller) -> str:
    return small_svg(draw(plot, PlotInputs(functions, load_model=tables)))


def tables() -> Checkpoint:
    """Return the tables of the trained model as a checkpoint."""
    seen = measured()
    params = {name: np.array(seen[name]) for name in ("W_tok", "W_pos")}
    return Checkpoint(SETTINGS, seen["chars"], STEPS, params, {})


def measure() -> dict[str, Any]:
    """Train the model and return what the pictures show of it, rounded."""
    settings = replace(SETTINGS, data_sha256=text_digest(datasets.load(SETTINGS.data)))
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


def main() -> None:
    """Draw all pictures, and remove those that are not drawn any more."""
    if "--train" in sys.argv[1:]:
        entries = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in measure().items())
        FILE.write_text("{\n" + ",\n".join(entries) + "\n}\n", "utf-8")
    solutions = bundled("solutions")
    folder = solutions / "figures"
    folder.mkdir(exist_ok=True)
    drawn: dict[str, str] = {}
    with functions_in_folder(solutions) as functions:
        for name, picture in pictures().items():
            try:
                drawn[f"{name}.svg"] = picture(functions)
            except MissingPart as error:  # of a new assignment
                sys.stderr.write(f"{name}: {error}\n")
    for path in folder.glob("*.svg"):
        if path.name not in drawn:
            path.unlink()
    for name, text in drawn.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()

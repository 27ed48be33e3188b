"""What a small trained GPT shows: measured once by training it on the names that come with Headway."""

import hashlib
import json
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course.stubs import bundled
from autograder.models.lesson_figures.diagram import Diagram
from autograder.models.lesson_figures.small_svg import small_svg
from autograder.models.plot_data.catalog import find_plot
from autograder.models.plot_data.function_calls import FunctionCaller, functions_in_folder
from autograder.models.plots import draw, figure
from autograder.models.plots.inputs import PlotInputs
from autograder.models.plots.model import ForwardPass, ffn_values, input_and_output
from autograder.models.training.checkpoint import Checkpoint
from autograder.models.training.sampling import Sampling
from autograder.models.training.settings import TrainingSettings

FILE = Path(__file__).with_name("trained_model.json")
STEPS, MEAN_OF = 2_000, 25
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

    digest = hashlib.sha256(datasets.load(DATA, 0).encode()).hexdigest()
    settings = TrainingSettings(DATA, DATA, MODEL, 32, 5e-3, "cosine", STEPS, 0, "\n", digest)
    solutions = bundled("solutions")
    with start_workers() as workers, closing(Trainer(workers, solutions, settings)) as trainer:
        untrained = _clone(trainer.checkpoint())
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


def _clone(run: Checkpoint) -> Checkpoint:
    params = {name: value.copy() for name, value in run.params.items()}
    return Checkpoint(run.settings, list(run.chars), 0, params, {})


def _forward(functions: FunctionCaller, run: Checkpoint, text: str) -> ForwardPass:
    return ForwardPass(PlotInputs(functions, text, lambda: run))


def _next_probabilities(functions: FunctionCaller, run: Checkpoint) -> Any:
    logits = _forward(functions, run, PROMPT).logits[-1]
    return functions.array("softmax.softmax", logits.shape, logits)


def _rounded(values: Any, places: int) -> Any:
    return np.asarray(values, dtype=np.float64).round(places).tolist()


def write(path: Path = FILE) -> None:
    """Train the model and write the file."""
    entries = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in measure().items())
    path.write_text("{\n" + ",\n".join(entries) + "\n}\n", "utf-8")


@cache
def measured() -> dict[str, Any]:
    """Return what was measured."""
    content: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return content


def _run() -> Checkpoint:
    """Return the tables of the trained model as a checkpoint."""
    seen = measured()
    settings = TrainingSettings(DATA, DATA, MODEL, 32, 5e-3, "cosine", STEPS, 0, "\n", "")
    params = {name: np.array(seen[name]) for name in ("W_tok", "W_pos")}
    return Checkpoint(settings, seen["chars"], STEPS, params, {})


def embedding_map(functions: FunctionCaller) -> str:
    """Return `headway plot embedding-map` of the trained model."""
    return small_svg(draw(find_plot("embedding-map"), PlotInputs(functions, None, _run)))


def learned_positions() -> str:
    """Return the learned position table as a heat map, and the similarity of its rows."""
    table = np.array(measured()["W_pos"])
    length = np.linalg.norm(table, axis=1, keepdims=True)
    similarity = (table / length) @ (table / length).T
    d = Diagram(860, 346)
    for left, title, values, cell, across in (
        (60, "W_pos after training (T, D)", table, 14.0, "feature"),
        (570, "cosine of each pair of rows", similarity, 15.0, "position"),
    ):
        d.text(left, 16, title, 14, "start", bold=True)
        d.text(left, 36, f"{across} →", 13, "start")
        d.table(values, left, 50, (cell, 15), gap=0)
        d.labels([str(t) for t in range(len(table))], left - 6, 50, 15, down=True)
    d.text(20, 306, "↑ position", 13, "start")
    d.note(
        328,
        "Nobody put order into this table. Blue: above 0, orange: below. Rows 1 to 3 apart are most alike on average.",
    )
    return d.svg()


def stream_variance() -> str:
    """Return the variance of the residual stream after each step, and of what the step added."""
    seen = measured()
    fig, [[panel]] = figure.subplots("Variance of the residual stream, and of what is added to it", size=(9, 4.2))
    at = np.arange(len(seen["stages"]))
    panel.plot(at, seen["stream_variance"], "o-", color=figure.BLUE, label="the stream, trained")
    panel.plot(at, seen["new_stream_variance"], "o--", color=figure.BLACK, label="the stream, untrained")
    for start, color, marker, label in (
        (0, figure.GREEN, "s", "attention output, trained"),
        (1, figure.ORANGE, "D", "feed-forward output, trained"),
    ):
        panel.plot(at[1 + start :: 2], seen["added_variance"][start::2], marker, color=color, markersize=9, label=label)
    figure.log_scale(panel)
    figure.label_axes(panel, "after block and step", "variance over the features (log scale)")
    figure.tick_labels(panel, seen["stages"], x=True)
    panel.legend(frameon=False)
    return small_svg(fig)


def ffn_scatter() -> str:
    """Return inputs and outputs of the last feed-forward network, as in `headway plot ffn-hidden`."""
    seen = measured()
    fig, [[panel]] = figure.subplots("What a feed-forward network makes of its input", size=(6, 4.4))
    input_and_output(panel, np.array(seen["ffn_input"]), np.array(seen["ffn_output"]))
    return small_svg(fig)


def untrained_output() -> str:
    """Return the probabilities of the next character and a sample, before and after training."""
    seen = measured()
    names = [figure.visible_character(char) for char in seen["chars"]]
    fig, axes = figure.subplots("The next character after “mar”", 2, 1, (9, 5), sharex=True, sharey=True)
    for panel, probabilities, color, sample, when in zip(
        axes[:, 0],
        seen["probabilities"],
        (figure.ORANGE, figure.BLUE),
        seen["samples"],
        ("before", "after"),
        strict=True,
    ):
        panel.bar(np.arange(len(names)), probabilities, color=color)
        text = "".join(map(figure.visible_character, sample[:52]))
        figure.label_axes(panel, "", "probability")
        panel.set_title(f"{when} training; it writes: {text}", fontsize="medium", loc="left", parse_math=False)
        panel.axhline(1 / len(names), color="gray", linestyle=":", linewidth=1)
    figure.tick_labels(axes[1, 0], names, x=True)
    axes[1, 0].set_xlabel("next character (dotted: all equally likely)")
    return small_svg(fig)


def loss() -> str:
    """Return the loss curve of the run."""
    seen = measured()
    fig, [[panel]] = figure.subplots("The loss of a small GPT on names", size=(9, 4.2))
    steps = np.arange(len(seen["losses"])) * MEAN_OF + MEAN_OF / 2
    panel.plot(steps, seen["losses"], color=figure.BLUE, label=f"training (mean of {MEAN_OF} steps)")
    panel.plot(*zip(*seen["validation"], strict=True), "o-", color=figure.ORANGE, label="validation")
    uniform = float(np.log(len(seen["chars"])))
    panel.axhline(
        uniform, color="gray", linestyle=":", label=f"all characters equally likely: log {len(seen['chars'])}"
    )
    figure.label_axes(panel, "step", "loss (nats per character)")
    panel.legend(frameon=False)
    return small_svg(fig)

"""Plots of training: the loss of one run or of several, the gradients."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from autograder.core.text import clean
from autograder.core.wire_format import Rng
from autograder.course import Plot
from autograder.courses.transformer.training.hyperparameters import changed_settings
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, Ids, drawable
from autograder.errors import UsageError
from autograder.models import plots
from autograder.models.plots.inputs import PlotInputs, encode_text
from autograder.models.training import checkpoint, datasets
from autograder.models.training.checkpoint import Checkpoint

MOST_RUNS = 6  # in one plot


def loss(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the loss curve of the run in the checkpoint."""
    return loss_curve(inputs.checkpoint("gpt", "bigram"))


def loss_curve(run: Checkpoint) -> "figure.Figure":
    """Draw training and validation loss by step, with the losses to compare them with."""
    fig, [[panel]] = figure.subplots(f"{run.settings.preset} on {datasets.shown_name(run.settings.data)}")
    losses = np.asarray(run.losses)
    steps = np.arange(1, len(losses) + 1)
    width = max(1, len(losses) // 100)
    panel.plot(steps, losses, color=figure.BLUE, alpha=0.15, linewidth=0.7)
    if len(losses) >= 2 * width:
        smooth = np.convolve(losses, np.full(width, 1 / width), mode="valid")
        panel.plot(steps[width - 1 :], smooth, color=figure.BLUE, label=f"training (mean of {width} steps)")
    if run.validation:
        at, values = zip(*run.validation, strict=True)
        panel.plot(at, values, "o-", color=figure.ORANGE, markersize=4, label=f"validation (last {values[-1]:.3f})")
    uniform_loss = float(np.log(len(run.chars)))
    panel.axhline(uniform_loss, color="gray", linestyle=":", label=f"uniform guessing: log {len(run.chars)}")
    if (entropy := run.settings.entropy_floor()) is not None:
        panel.axhline(entropy, color=figure.GREEN, linestyle="--", label=f"entropy of the language: {entropy:.3f}")
    figure.label_axes(panel, "step", "loss (nats per character)")
    panel.set_ylim(top=min(float(losses.max()), 1.5 * uniform_loss) * 1.03)
    fig.legend(frameon=False, loc="outside lower center", ncols=4, fontsize=9)
    return fig


def write_comparison(plot: Plot, paths: Sequence[Path], out: Path, *, force: bool = False) -> list[str]:
    """Draw the losses of the runs in these files and write the plot; return lines that compare the runs."""
    if plot.name != "loss":
        raise UsageError(f"{plot.name} shows one model. Name one, or compare losses: headway plot loss A B")
    if len(paths) > MOST_RUNS:
        raise UsageError(f"{len(paths)} runs are too many for one plot. Name at most {MOST_RUNS}")
    runs = [(path.name, checkpoint.load(path)) for path in paths]
    for name, run in runs:
        if not run.losses:
            raise UsageError(f"{name} has not been trained yet. Train it: headway train --resume --out {name}")
    plots.write(plot, lambda: compared_losses(runs), out, force=force)
    lines = [f"Wrote {out}."]
    for name, run in runs:
        validation = f", validation {run.validation[-1][1]:.4f}" if run.validation else ""
        about = clean(", ".join([f"preset {run.settings.preset}", *changed_settings(run.settings)]), 200)
        steps, training = f"{clean(name, 100)}: {run.step:,} steps", f"training {run.curve()[-1].loss:.4f}"
        lines.append(f"  {steps}, {training}{validation} ({about})")
    if len({run.settings.data_sha256 for _, run in runs}) > 1:
        lines.append("The text or its order differs between these runs, so their losses are not directly comparable.")
    return lines


def compared_losses(runs: Sequence[tuple[str, Checkpoint]]) -> "figure.Figure":
    """Draw training losses as lines, and validation losses as points of the same color."""
    fig, [[panel]] = figure.subplots("The loss during training", size=(9.5, 5))
    for (name, run), color in zip(runs, figure.COLORS, strict=False):
        points = run.curve()
        panel.plot([point.step for point in points], [point.loss for point in points], color=color, linewidth=1.2,
                   label=clean(name, 60).lstrip("_"))  # fmt: skip
        if run.validation:
            steps, losses = np.array(run.validation).T
            panel.plot(steps, losses, "o--", color=color, markersize=4, linewidth=0.8)
    panel.plot([], [], "o--", color="gray", markersize=4, linewidth=0.8, label="validation")
    figure.label_axes(panel, "step", "loss (nats per character)")
    legend = fig.legend(frameon=False, loc="outside lower center", ncols=3, fontsize=9)
    for text in legend.get_texts():  # names of files
        text.set_parse_math(False)
    return fig


def gradient_norms(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the gradient norm of each layer on one batch, for a new model and for the trained one."""
    run = inputs.checkpoint()
    config, functions = run.config, inputs.functions
    x, y = _batch(run, inputs)
    new = functions.call("gpt.init_gpt", config, Rng(run.settings.seed))
    fig, [[panel]] = figure.subplots(plot.title, size=(10, 4.4))
    before = (-0.2, new, figure.SKY, "before training")
    after = (0.2, run.params, figure.BLUE, f"after {run.step:,} steps")
    for shift, params, color, label in (before, after):
        _, grads = functions.values("gpt.gpt_loss", 2, x, y, params, config)
        names, norms = norms_by_layer(grads, run)
        panel.bar(np.arange(len(names)) + shift, norms, width=0.38, color=color, label=label)
    figure.label_axes(panel, "block and layer", "norm of the gradient (nats per unit)")
    figure.tick_labels(panel, names, x=True)
    panel.tick_params(axis="x", rotation=35)
    figure.log_scale(panel)
    panel.set_ylim(top=panel.get_ylim()[1] * 4)
    panel.legend(frameon=False, ncols=2, loc="upper right")
    return fig


def norms_by_layer(grads: object, run: Checkpoint) -> tuple[list[str], Array]:
    """Return the names of the layers, in the order of the model, and the norms of their gradients."""
    squares: dict[str, float] = {}
    gradients = grads if isinstance(grads, dict) else {}
    for name, param in run.params.items():
        grad = drawable(gradients.get(name), param.shape, "gpt.gpt_loss")
        layer = name.removeprefix("blocks.").rpartition(".")[0].replace(".", " ") or name
        squares[layer] = squares.get(layer, 0.0) + float((grad**2).sum())
    return list(squares), np.sqrt(np.array(list(squares.values())))


def _batch(run: Checkpoint, inputs: PlotInputs) -> tuple[Ids, Ids]:
    """Return one batch, inputs and targets, of the text that the model was trained on."""
    ids = encode_text(datasets.text_of(run.settings)[:100_000], run, inputs.functions)
    shape = (run.settings.batch_size, int(run.settings.model["block_size"]))
    values = inputs.functions.values("tokenizer.get_batch", 2, ids, *shape, Rng(0))
    x, y = (drawable(value, shape, "tokenizer.get_batch").astype(np.int64) for value in values)
    return x, y

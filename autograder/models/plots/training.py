"""Plots of training: the loss, the gradients."""

import numpy as np

from autograder.core.wire_format import Rng
from autograder.course import Plot
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, Ids, drawable
from autograder.models.plots.inputs import PlotInputs, encode_text, model_config
from autograder.models.training import datasets
from autograder.models.training.checkpoint import Checkpoint


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


def gradient_norms(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the gradient norm of each layer on one batch, for a new model and for the trained one."""
    run = inputs.checkpoint()
    config, functions = model_config(run), inputs.functions
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

"""Pictures of training: the loss curve, the learning rate, the gradients."""

from typing import TYPE_CHECKING

import numpy as np

from autograder.core.wire_format import Rng
from autograder.workspace.plots import Picture
from autograder.workspace.plots import figure as paper
from autograder.workspace.plots.inputs import Array, Ids, Subject, config_of, drawable
from autograder.workspace.training.checkpoint import Checkpoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def schedule(picture: Picture, subject: Subject) -> "Figure":
    """The learning rate of every step, for three lengths of the warm-up."""
    total, largest = 200, 1e-3
    figure, axes = paper.sheet(picture.title, size=(8.5, 4))
    for warmup, colour in ((10, paper.BLUE), (50, paper.ORANGE), (0, paper.GREEN)):
        rates = [
            subject.work.array("training.learning_rate", (), step, largest, largest / 10, warmup, total)
            for step in range(total + 20)
        ]
        axes[0, 0].plot(rates, color=colour, label=f"{warmup} steps of warm-up")
    paper.plain(axes[0, 0], "step", "learning rate")
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False)
    return figure


def loss(picture: Picture, subject: Subject) -> "Figure":
    """The loss curve of a run, from its checkpoint."""
    run = subject.run()
    return loss_curve(run, run.settings.entropy_floor())


def loss_curve(run: Checkpoint, floor: float | None = None) -> "Figure":
    """Training and validation loss against the step, with the losses to compare with.

    Args:
        run: the history.
        floor: the entropy per character of the text, nats, where it is known.
    """
    figure, axes = paper.sheet(f"{run.settings.preset} on {run.settings.data}")
    plot = axes[0, 0]
    losses = np.asarray(run.losses)
    steps = np.arange(1, len(losses) + 1)
    width = max(1, len(losses) // 100)
    plot.plot(steps, losses, color=paper.BLUE, alpha=0.15, linewidth=0.7)
    if len(losses) >= 2 * width:
        smooth = np.convolve(losses, np.full(width, 1 / width), mode="valid")
        plot.plot(steps[width - 1 :], smooth, color=paper.BLUE, label=f"training (mean of {width} steps)")
    if run.validation:
        at, values = zip(*run.validation, strict=True)
        plot.plot(at, values, "o-", color=paper.ORANGE, markersize=4, label=f"validation (last {values[-1]:.3f})")
    knows_nothing = float(np.log(len(run.chars)))
    plot.axhline(knows_nothing, color="gray", linestyle=":", label=f"knows nothing: log {len(run.chars)}")
    if floor is not None:
        plot.axhline(floor, color=paper.GREEN, linestyle="--", label=f"entropy of the language: {floor:.3f}")
    paper.plain(plot, "step", "loss (nats per character)")
    plot.set_ylim(top=min(float(losses.max()), 1.5 * knows_nothing) * 1.03)
    figure.legend(frameon=False, loc="outside lower center", ncols=4, fontsize=9)
    return figure


def gradient_norms(picture: Picture, subject: Subject) -> "Figure":
    """The norm of the gradient of each part, on one batch, for a new model and for the trained one."""
    run = subject.run()
    config, work = config_of(run), subject.work
    x, y = _batch(run, subject)
    new = work.call("gpt.init_gpt", config, Rng(run.settings.seed))
    figure, axes = paper.sheet(picture.title, size=(10, 4.4))
    plot = axes[0, 0]
    for shift, params, colour, label in (
        (-0.2, new, paper.SKY, "before training"),
        (0.2, run.params, paper.BLUE, f"after {run.step:,} steps"),
    ):
        _, grads = work.arrays("gpt.gpt_loss", 2, x, y, params, config)
        names, norms = norms_by_part(grads, run)
        plot.bar(np.arange(len(names)) + shift, norms, width=0.38, color=colour, label=label)
    paper.plain(plot, "part (block, part)", "norm of the gradient (nats per unit)")
    paper.ticks(plot, names, x=True)
    plot.tick_params(axis="x", rotation=35)
    plot.set_yscale("log")
    plot.set_ylim(top=plot.get_ylim()[1] * 4)
    plot.legend(frameon=False, ncols=2, loc="upper right")
    return figure


def norms_by_part(grads: object, run: Checkpoint) -> tuple[list[str], Array]:
    """Names of the parts, in the order of the model, and the norms of their gradients."""
    squares: dict[str, float] = {}
    given = grads if isinstance(grads, dict) else {}
    for name, param in run.params.items():
        grad = drawable(given.get(name), param.shape, "gpt.gpt_loss")
        part = name.removeprefix("blocks.").rpartition(".")[0].replace(".", " ") or name
        squares[part] = squares.get(part, 0.0) + float((grad**2).sum())
    return list(squares), np.sqrt(np.array(list(squares.values())))


def _batch(run: Checkpoint, subject: Subject) -> tuple[Ids, Ids]:
    """One batch of the text that the model was trained on."""
    from autograder.workspace.training import datasets

    text = datasets.load(run.settings.data, run.settings.seed)[:100_000]
    stoi = {char: index for index, char in enumerate(run.chars)}
    ids = subject.work.array("tokenizer.encode", (len(text),), text, stoi).astype(np.int64)
    shape = (run.settings.batch_size, int(run.settings.model["block_size"]))
    values = subject.work.arrays("tokenizer.get_batch", 2, ids, *shape, Rng(0))
    x, y = (drawable(value, shape, "tokenizer.get_batch").astype(np.int64) for value in values)
    return x, y

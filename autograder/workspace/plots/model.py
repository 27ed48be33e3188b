"""Pictures of a trained model at work on a text: heads, residual stream, feed-forward networks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import UsageError
from autograder.workspace.plots import Picture
from autograder.workspace.plots import figure as paper
from autograder.workspace.plots.inputs import Array, Subject, config_of, drawable, ids_of, text_for
from autograder.workspace.training.checkpoint import Checkpoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = ("after_attention", "after_ffn")


class Reading:
    """A trained model that has read one text, with the subject's functions.

    Attributes:
        run: the trained model.
        text: what it has read, T characters.
    """

    def __init__(self, subject: Subject) -> None:
        self.run: Checkpoint = subject.run()
        self.text = text_for(subject, self.run)
        self.work = subject.work
        ids = ids_of(self.text, self.run, self.work)
        logits, self._cache = self.work.arrays("gpt.gpt", 2, ids[None], self.run.params, config_of(self.run))
        self.logits = drawable(logits, (1, len(ids), len(self.run.chars)), "gpt.gpt")[0]

    @property
    def n_layers(self) -> int:
        """The number of blocks."""
        return int(self.run.settings.model["n_layers"])

    @property
    def n_heads(self) -> int:
        """The number of heads in each block."""
        return int(self.run.settings.model["n_heads"])

    @property
    def labels(self) -> list[str]:
        """The characters, as they can be shown."""
        return [paper.visible(char) for char in self.text]

    def entry(self, key: str, *shape: int) -> Array:
        """One entry of the model's cache, without the batch axis."""
        try:
            value: Any = self._cache[key]
        except KeyError:
            raise UsageError(f"the cache of gpt.gpt has no {key!r}. Look at it first: headway check gpt.gpt") from None
        except Exception as error:  # whatever the student put there instead of a dictionary
            raise UsageError(f"the cache of gpt.gpt gives no {key!r} ({error}). See headway check gpt.gpt") from None
        return drawable(value, (1, *shape), "gpt.gpt").reshape(shape)

    def weights(self) -> Array:
        """The attention weights of all blocks, (L, H, T, T)."""
        length = len(self.text)
        return np.stack([self.entry(f"blocks.{i}.weights", self.n_heads, length, length) for i in range(self.n_layers)])

    def stream(self) -> tuple[list[str], Array]:
        """The residual stream: names of its stages, and the vectors after each, (1 + 2 L, T, D)."""
        shape = (len(self.text), int(self.run.settings.model["d_model"]))
        keys = ["embedded", *(f"blocks.{i}.{step}" for i in range(self.n_layers) for step in STEPS)]
        names = ["embedding", *(f"{i} {part}" for i in range(self.n_layers) for part in ("attention", "ffn"))]
        return names, np.stack([self.entry(key, *shape) for key in keys])


def heads(picture: Picture, subject: Subject) -> "Figure":
    """The weights of every head: one row of panels for each block."""
    reading = Reading(subject)
    weights = reading.weights()
    cell = max(2.0, min(3.2, 0.28 * len(reading.text)))
    size = (cell * reading.n_heads + 1.5, cell * reading.n_layers + 0.8)
    figure, axes = paper.sheet(picture.title, reading.n_layers, reading.n_heads, size, sharex=True, sharey=True)
    image = None
    for (layer, head), plot in np.ndenumerate(axes):
        image = paper.heat(plot, weights[layer, head], "", "", f"block {layer}, head {head}", vmin=0.0, vmax=1.0)
        paper.ticks(plot, reading.labels, x=True, y=True)
        plot.tick_params(labelsize=8)
    for plot in axes[-1]:
        plot.set_xlabel("looks at")
    for plot in axes[:, 0]:
        plot.set_ylabel("from")
    assert image is not None
    paper.scale(figure, image, axes, "attention weight")
    return figure


def residual_norms(picture: Picture, subject: Subject) -> "Figure":
    """The length of the stream after each step, and the length of what each step adds, mean over the positions."""
    reading = Reading(subject)
    names, stream = reading.stream()
    updates = np.diff(stream, axis=0)
    figure, axes = paper.sheet(picture.title, size=(9.5, 4.4))
    plot = axes[0, 0]
    at = np.arange(len(names))
    colours = [paper.SKY if "attention" in name else paper.ORANGE for name in names[1:]]
    plot.bar(at[1:], np.linalg.norm(updates, axis=-1).mean(axis=-1), color=colours, width=0.6)
    plot.plot(at, np.linalg.norm(stream, axis=-1).mean(axis=-1), "o-", color=paper.BLUE, label="the stream")
    plot.bar([0], [0], color=paper.SKY, label="added by attention")
    plot.bar([0], [0], color=paper.ORANGE, label="added by the feed-forward network")
    paper.plain(plot, "after step (block, part)", "length of the vectors, mean over the positions")
    paper.ticks(plot, names, x=True)
    plot.tick_params(axis="x", rotation=30)
    plot.legend(frameon=False)
    return figure


def residual_stream(picture: Picture, subject: Subject) -> "Figure":
    """The vector of the last position after each step, one row for each."""
    reading = Reading(subject)
    names, stream = reading.stream()
    figure, axes = paper.sheet(picture.title, size=(11, 4.4))
    image = paper.heat(axes[0, 0], stream[:, -1], "feature of the stream", "after step (block, part)", signed=True)
    axes[0, 0].set_title(f"after reading “{''.join(reading.labels)}”", fontsize="medium", parse_math=False)
    paper.ticks(axes[0, 0], names, y=True)
    paper.whole_numbers(axes[0, 0], x=True)
    paper.scale(figure, image, axes[0, 0], "value")
    return figure


def hidden_values(reading: Reading) -> tuple[Array, Array]:
    """The hidden values of every feed-forward network before and after the activation, (L, T, F) each."""
    run, work = reading.run, reading.work
    model = run.settings.model
    activation = str(model.get("activation", "gelu"))
    _, stream = reading.stream()
    before, after = [], []
    for i in range(reading.n_layers):
        part = f"blocks.{i}."
        x = stream[1 + 2 * i]
        normed = work.array(
            "layernorm.layernorm", x.shape, x, run.params[f"{part}ln2.gamma"], run.params[f"{part}ln2.beta"]
        )
        weights, bias = run.params[f"{part}ffn.W_1"], run.params.get(f"{part}ffn.b_1")
        before.append(work.array("ffn.linear", (len(x), weights.shape[1]), normed, weights, bias))
        after.append(work.array(f"ffn.{activation}", before[-1].shape, before[-1]))
    return np.stack(before), np.stack(after)


def ffn_hidden(picture: Picture, subject: Subject) -> "Figure":
    """Hidden values of the last block, their distribution before and after, and how many are shut in each block."""
    reading = Reading(subject)
    before, after = hidden_values(reading)
    figure, axes = paper.sheet(picture.title, 1, 3, (15, 4.2), width_ratios=(2, 1.3, 1))
    cut = float(np.quantile(np.abs(after[-1]), 0.98)) or 1.0  # a few large values would leave all others white
    limits = {"vmin": -cut, "vmax": cut}
    title = "last block, after the activation"
    image = paper.heat(axes[0, 0], after[-1], "hidden feature", "character", title, signed=True, **limits)
    paper.ticks(axes[0, 0], reading.labels, y=True)
    paper.scale(figure, image, axes[0, 0], "value (2 % lie beyond the scale)")
    low, high = float(min(before.min(), after.min())), float(max(before.max(), after.max()))
    edges = np.linspace(low, high + 1e-9, 41)
    for values, colour, label in ((before, paper.SKY, "before"), (after, paper.BLUE, "after the activation")):
        counts = np.histogram(values, edges)[0] / values.size
        axes[0, 1].stairs(counts, edges, color=colour, fill=label == "before", alpha=0.8, linewidth=1.5, label=label)
    paper.plain(axes[0, 1], "hidden value", "share of all hidden values", "all blocks")
    axes[0, 1].legend(frameon=False, loc="upper left")
    shut = (before < 0).mean(axis=(1, 2))
    axes[0, 2].bar(np.arange(len(shut)), shut, color=paper.ORANGE)
    paper.plain(axes[0, 2], "block", "share of hidden values that are shut", "below 0 before the activation")
    paper.whole_numbers(axes[0, 2], x=True)
    axes[0, 2].set_ylim(0, 1)
    return figure

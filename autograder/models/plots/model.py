"""Plots of a trained model applied to a text: heads, residual stream, feed-forward networks."""

from typing import Any

import numpy as np

from autograder.course import Plot
from autograder.courses.transformer.ffn.figures import input_and_output
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, drawable
from autograder.errors import UsageError
from autograder.models.plots.inputs import PlotInputs, shown_model

LAYERS = ("after_attention", "after_ffn")
MANY_HEADS = 48  # in one figure: more are drawn small


class ForwardPass:
    """A trained model applied to one text of T tokens, computed by the student's functions."""

    def __init__(self, inputs: PlotInputs) -> None:
        self.model = shown_model(inputs)
        self.functions = inputs.functions
        self.n_layers, self.n_heads = self.model.config.n_layers, self.model.config.n_heads
        self.width: int = self.model.config.d_model
        ids, self.labels = self.model.read()
        n_tokens = self.model.config.vocab_size
        logits, self._cache = self.functions.values("gpt.gpt", 2, ids[None], self.model.params, self.model.config)
        self.logits = drawable(logits, (1, len(ids), n_tokens), "gpt.gpt")[0]

    def cache_entry(self, key: str, *shape: int) -> Array:
        """Return one entry of the model's cache, without its batch axis."""
        try:
            value: Any = self._cache[key]
        except Exception as error:  # the student's function may return anything in place of a dictionary
            what = repr(key) if isinstance(error, KeyError) else f"readable {key!r} ({error})"
            raise UsageError(f"the cache of gpt.gpt has no {what}. To see more: headway check gpt.gpt") from None
        return drawable(value, (1, *shape), "gpt.gpt").reshape(shape)

    def attention_weights(self) -> Array:
        """Return the attention weights of all blocks, (L, H, T, T)."""
        shape = (self.n_heads, len(self.labels), len(self.labels))
        return np.stack([self.cache_entry(f"blocks.{i}.weights", *shape) for i in range(self.n_layers)])

    def residual_stream(self) -> tuple[list[str], Array]:
        """Return the names of the stages of the residual stream and the vectors after each, (1 + 2 L, T, D)."""
        shape = (len(self.labels), self.width)
        keys = ["embedded", *(f"blocks.{i}.{layer}" for i in range(self.n_layers) for layer in LAYERS)]
        names = ["embedding", *(f"{i} {part}" for i in range(self.n_layers) for part in ("attention", "ffn"))]
        return names, np.stack([self.cache_entry(key, *shape) for key in keys])


def heads(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the weights of every head, one row of panels for each block."""
    forward = ForwardPass(inputs)
    weights = forward.attention_weights()
    many = forward.n_layers * forward.n_heads > MANY_HEADS
    cell = max(2.0, min(3.2, 0.28 * len(forward.labels))) if not many else 1.6
    size = (cell * forward.n_heads + 1.5, cell * forward.n_layers + 0.8)
    # With shared axes, the time grows with the square of their number.
    shared = {} if many else {"sharex": True, "sharey": True}
    fig, axes = figure.subplots(plot.title, forward.n_layers, forward.n_heads, size, **shared)
    for (layer, head), panel in np.ndenumerate(axes):
        title = f"block {layer}, head {head}"
        figure.heatmap(panel, weights[layer, head], "", "", title, vmin=0.0, vmax=1.0)
        if many:
            panel.set(xticks=[], yticks=[])
        is_lowest, is_first = layer == forward.n_layers - 1, head == 0
        figure.tick_labels(panel, forward.labels, x=is_lowest or not many, y=is_first or not many)
        panel.tick_params(labelsize=7 if many else 9)
        panel.tick_params(axis="x", rotation=90 if many else 0)
    for panel in axes[-1]:
        panel.set_xlabel("key")
    for panel in axes[:, 0]:
        panel.set_ylabel("query")
    fig.colorbar(axes[0, 0].images[0], ax=axes, label="attention weight")
    return fig


def residual_norms(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the lengths of the residual stream and of what each layer adds, averaged over the positions."""
    forward = ForwardPass(inputs)
    names, stream = forward.residual_stream()
    updates = np.diff(stream, axis=0)
    fig, [[panel]] = figure.subplots(plot.title, size=(9.5, 4.4))
    at = np.arange(len(names))
    colors = [figure.SKY if "attention" in name else figure.ORANGE for name in names[1:]]
    panel.bar(at[1:], np.linalg.norm(updates, axis=-1).mean(axis=-1), color=colors, width=0.6)
    panel.plot(at, np.linalg.norm(stream, axis=-1).mean(axis=-1), "o-", color=figure.BLUE, label="the stream")
    panel.bar([0], [0], color=figure.SKY, label="added by attention")
    panel.bar([0], [0], color=figure.ORANGE, label="added by the feed-forward network")
    figure.label_axes(panel, "after block and layer", "length of the vectors, mean over positions")
    figure.tick_labels(panel, names, x=True)
    panel.tick_params(axis="x", rotation=30)
    panel.legend(frameon=False)
    return fig


def residual_stream(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the residual stream at the last position, one row for each stage."""
    forward = ForwardPass(inputs)
    names, stream = forward.residual_stream()
    fig, axes = figure.subplots(plot.title, size=(10, 4.4))
    image = figure.heatmap(axes[0, 0], stream[:, -1], "feature", "after block and layer", signed=True)
    axes[0, 0].set_title(f"after the text “{''.join(forward.labels)}”", fontsize="medium", parse_math=False)
    figure.tick_labels(axes[0, 0], names, y=True)
    figure.integer_ticks(axes[0, 0])
    fig.colorbar(image, ax=axes[0, 0], label="value")
    return fig


def hidden_values(forward: ForwardPass) -> tuple[Array, Array]:
    """Return the hidden values of all feed-forward networks before and after the activation, (L, T, F) each."""
    model, functions = forward.model, forward.functions
    activation = model.config.fields.get("activation", "gelu")
    before, after = [], []
    for i, normed in enumerate(ffn_values(forward)[0]):
        weights, bias = (model.params.get(f"blocks.{i}.ffn.{name}") for name in ("W_1", "b_1"))
        before.append(functions.array("ffn.linear", (len(normed), weights.shape[1]), normed, weights, bias))
        after.append(functions.array(f"ffn.{activation}", before[-1].shape, before[-1]))
    return np.stack(before), np.stack(after)


def logit_lens(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the most likely next token at every position, if the model ended after the embedding or after a block."""
    forward = ForwardPass(inputs)
    _, stream = forward.residual_stream()
    stages = stream[::2]  # (1 + L, T, D): after the embedding, and after each block
    best, probabilities = [], []
    for x in stages:
        scores = forward.model.scores(x)
        probs = forward.functions.array("softmax.softmax", scores.shape, scores)
        best.append(forward.model.labels(probs.argmax(axis=-1).tolist()))
        probabilities.append(probs.max(axis=-1))
    size = (max(6.0, min(40.0, 0.72 * len(forward.labels) + 2.0)), 0.34 * len(stages) + 2.0)
    fig, [[panel]] = figure.subplots(plot.title, size=size)
    image = figure.heatmap(panel, np.stack(probabilities), "after the token", "after block", vmin=0.0, vmax=1.0)
    for (row, column), probability in np.ndenumerate(np.stack(probabilities)):
        panel.text(column, row, best[row][column][:7], ha="center", va="center", fontsize=9, parse_math=False,
                   color=figure.text_color(image, probability))  # fmt: skip
    figure.tick_labels(panel, forward.labels, x=True)
    figure.tick_labels(panel, ["embedding", *map(str, range(forward.n_layers))], y=True)
    panel.tick_params(axis="x", rotation=60)
    fig.colorbar(image, ax=panel, label="probability of the token shown")
    return fig


def ffn_hidden(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the hidden values of the last block, their distribution, how many are negative, and inputs and outputs."""
    forward = ForwardPass(inputs)
    before, after = hidden_values(forward)
    fig, axes = figure.subplots(plot.title, 2, 2, (10, 7.2))
    cut = float(np.quantile(np.abs(after[-1]), 0.98)) or 1.0  # a few large values must not leave all others white
    limits = {"vmin": -cut, "vmax": cut}
    title = "last block, after the activation"
    image = figure.heatmap(axes[0, 0], after[-1], "hidden feature", forward.model.unit, title, signed=True, **limits)
    figure.tick_labels(axes[0, 0], forward.labels, y=True)
    fig.colorbar(image, ax=axes[0, 0], label="value (2 % are beyond the scale)")
    low, high = float(min(before.min(), after.min())), float(max(before.max(), after.max()))
    edges = np.linspace(low, high + 1e-9, 41)
    for values, color, label in ((before, figure.SKY, "before"), (after, figure.BLUE, "after the activation")):
        counts = np.histogram(values, edges)[0] / values.size
        axes[0, 1].stairs(counts, edges, color=color, fill=label == "before", alpha=0.8, linewidth=1.5, label=label)
    figure.label_axes(axes[0, 1], "hidden value", "share of all hidden values", "all blocks")
    axes[0, 1].legend(frameon=False, loc="upper left")
    negative = (before < 0).mean(axis=(1, 2))
    axes[1, 0].bar(np.arange(len(negative)), negative, color=figure.ORANGE)
    figure.label_axes(axes[1, 0], "block", "share of hidden values", "negative before the activation")
    figure.integer_ticks(axes[1, 0])
    axes[1, 0].set_ylim(0, 1)
    normed, added = ffn_values(forward)
    input_and_output(axes[1, 1], normed[-1], added[-1])
    return fig


def ffn_values(forward: ForwardPass) -> tuple[Array, Array]:
    """Return the inputs of all feed-forward networks, after layer norm, and their outputs, (L, T, D) each."""
    if not forward.model.is_pre_norm:
        raise UsageError("this plot needs a pre-norm model, such as: headway train --preset names")
    _, stream = forward.residual_stream()
    before, after = stream[1:-1:2], stream[2::2]  # (L, T, D): each network adds its output to the stream
    return np.stack([forward.model.layernorm(f"blocks.{i}.ln2", x) for i, x in enumerate(before)]), after - before

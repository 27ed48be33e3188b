"""Plots of `attention`: attention, step by step and query by query."""

import math

import numpy as np

from autograder.workspace.plots import figure
from autograder.workspace.plots.catalog import Plot
from autograder.workspace.plots.inputs import Array, PlotInputs, drawable

WORDS = ("the", "river", "bank", "was", "green")
LENGTH, WIDTH = len(WORDS), 4


def example() -> tuple[Array, Array, Array]:
    """Return queries, keys and values made up by hand, (T, d_k) each: "bank" attends as in the picture of the lesson.

    The four features can be read as article, water, noun and what is said about the noun.
    """
    q = [[1.0, 0.0, 1.6, 0.0], [1.0, 0.5, 2.0, 0.0], [0.0, 1.3, 1.1, 1.0], [0.0, 0.0, 2.0, 0.0], [0.0, -0.5, 3.0, 1.0]]
    k = [[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]]
    v = [[0.5, 0.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, -0.5, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 2.0]]
    return np.array(q), np.array(k), np.array(v)


def _attend(inputs: PlotInputs) -> tuple[Array, Array, Array]:
    """Return the causal mask, output and weights of the example, computed by the student's functions."""
    q, k, v = example()
    mask = inputs.functions.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH)
    values = inputs.functions.values("attention.attention", 2, q, k, v, mask=mask.astype(bool))
    out = drawable(values[0], (LENGTH, WIDTH), "attention.attention")
    return mask, out, drawable(values[1], (LENGTH, LENGTH), "attention.attention")


def steps(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw scores, masked scores, weights and output."""
    q, k, _ = example()
    mask, out, weights = _attend(inputs)
    scores = q @ k.T / math.sqrt(WIDTH)
    masked = np.where(mask > 0, scores, -np.inf)
    largest = float(np.abs(scores).max())
    fig, axes = figure.subplots(plot.title, 2, 2, (10, 7.6))
    limits = {"vmin": -largest, "vmax": largest}
    for panel, (values, x, title, label, signed, more) in zip(axes.flat, (
        (scores, "key", "scores: q kᵀ / √d_k", "score", True, limits),
        (masked, "key", "after the mask", "score", True, limits),
        (weights, "key", "weights: softmax of each row", "weight", False, {"vmin": 0.0, "vmax": 1.0}),
        (out, "feature", "output: weights times v", "value", True, {}),
    ), strict=True):  # fmt: skip
        image = figure.heatmap(panel, values, x, "query", title, signed, **more)
        figure.annotate_cells(panel, values)
        figure.tick_labels(panel, WORDS, y=True, x=x == "key")
        if x != "key":
            figure.integer_ticks(panel)
        fig.colorbar(image, ax=panel, label=label)
    return fig


def queries(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the weights of each query as a bar chart."""
    _, _, weights = _attend(inputs)
    fig, axes = figure.subplots(plot.title, 1, LENGTH, (10, 3.2), sharey=True)
    for panel, word, row in zip(axes[0], WORDS, weights, strict=True):
        panel.bar(np.arange(LENGTH), row, color=figure.BLUE)
        figure.label_axes(panel, "key", "", f"query “{word}”")
        figure.tick_labels(panel, WORDS, x=True)
        panel.tick_params(axis="x", rotation=60)
    axes[0, 0].set_ylabel("attention weight")
    axes[0, 0].set_ylim(0, 1.05)
    return fig

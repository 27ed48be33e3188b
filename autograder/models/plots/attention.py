"""Plots of `attention`: attention, step by step and query by query."""

import numpy as np

from autograder.course import Plot
from autograder.courses.transformer.attention.figures import LENGTH, WORDS
from autograder.drawing import figure
from autograder.models.plot_data import computations
from autograder.models.plots.inputs import PlotInputs


def steps(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw scores, masked scores, weights and output."""
    computed = computations.attention(inputs.functions)
    largest = float(np.abs(computed.scores).max())
    fig, axes = figure.subplots(plot.title, 2, 2, (10, 7.6))
    limits = {"vmin": -largest, "vmax": largest}
    for panel, (values, x, title, label, signed, more) in zip(axes.flat, (
        (computed.scores, "key", "scores: q kᵀ / √d_k", "score", True, limits),
        (computed.masked, "key", "after the mask", "score", True, limits),
        (computed.weights, "key", "weights: softmax of each row", "weight", False, {"vmin": 0.0, "vmax": 1.0}),
        (computed.out, "feature", "output: weights times v", "value", True, {}),
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
    weights = computations.attention(inputs.functions).weights
    fig, axes = figure.subplots(plot.title, 1, LENGTH, (10, 3.2), sharey=True)
    for panel, word, row in zip(axes[0], WORDS, weights, strict=True):
        panel.bar(np.arange(LENGTH), row, color=figure.BLUE)
        figure.label_axes(panel, "key", "", f"query “{word}”")
        figure.tick_labels(panel, WORDS, x=True)
        panel.tick_params(axis="x", rotation=60)
    axes[0, 0].set_ylabel("attention weight")
    axes[0, 0].set_ylim(0, 1.05)
    return fig

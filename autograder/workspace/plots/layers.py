"""Plots of assignments 6 and 7: layer norm and the activations."""

from typing import TYPE_CHECKING

import numpy as np

from autograder.workspace.plots import figure
from autograder.workspace.plots.catalog import Plot
from autograder.workspace.plots.inputs import PlotInputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 24
KINDS = ("small", "large", "shifted", "one outlier")


def vectors() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return four vectors that need normalizing for different reasons, (4, D)."""
    x = np.random.default_rng(6).normal(size=(len(KINDS), WIDTH))
    x *= np.array([0.3, 4.0, 1.0, 1.0])[:, None]
    x[2] += 8.0
    x[3, 5] = 12.0
    return x


def layernorm(plot: Plot, inputs: PlotInputs) -> "Figure":
    """Draw the values of each vector as dots on a line, with mean and standard deviation."""
    x = vectors()
    normed = inputs.functions.array("layernorm.layernorm", x.shape, x, np.ones(WIDTH), np.zeros(WIDTH))
    fig, axes = figure.subplots(plot.title, 1, 2, (11, 4), sharey=True)
    for panel, values, title in ((axes[0, 0], x, "before"), (axes[0, 1], normed, "after, with γ = 1 and β = 0")):
        for row, numbers in enumerate(values):
            panel.plot(numbers, np.full(WIDTH, row), "o", color=figure.BLUE, markersize=5, alpha=0.5)
            panel.errorbar(numbers.mean(), row - 0.25, xerr=numbers.std(), color=figure.ORANGE, marker="|", capsize=4)
        panel.axvline(0, color="gray", linewidth=0.6)
        figure.label_axes(panel, "value of a feature", "", title)
        figure.tick_labels(panel, KINDS, y=True)
    axes[0, 0].set_ylabel("vector")
    axes[0, 0].set_ylim(len(KINDS) - 0.6, -0.6)
    axes[0, 0].plot([], [], color=figure.ORANGE, label="mean ± standard deviation")
    axes[0, 0].legend(frameon=False, loc="upper right", fontsize=8)
    return fig


def activations(plot: Plot, inputs: PlotInputs) -> "Figure":
    """Draw the functions (left) and their slopes (right): the backward functions with an upstream gradient of 1."""
    x = np.linspace(-4.0, 4.0, 401)
    fig, axes = figure.subplots(plot.title, 1, 2, (11, 4.2))
    for name, color, style in (("relu", figure.ORANGE, "--"), ("gelu", figure.BLUE, "-")):
        value = inputs.functions.array(f"ffn.{name}", x.shape, x)
        slope = inputs.functions.array(f"ffn.{name}_backward", x.shape, np.ones_like(x), x)
        label = {"relu": "ReLU", "gelu": "GELU"}[name]
        axes[0, 0].plot(x, value, color=color, linestyle=style, label=label)
        axes[0, 1].plot(x, slope, color=color, linestyle=style, label=label)
    figure.label_axes(axes[0, 0], "x, before the activation", "after the activation", "the functions")
    figure.label_axes(axes[0, 1], "x, before the activation", "slope", "their derivatives")
    for panel in axes[0]:
        panel.axhline(0, color="gray", linewidth=0.6)
        panel.legend(frameon=False, loc="upper left")
    return fig

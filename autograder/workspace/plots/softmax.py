"""Plots of assignment 2: softmax."""

from typing import TYPE_CHECKING

import numpy as np

from autograder.workspace.plots import figure
from autograder.workspace.plots.catalog import Plot
from autograder.workspace.plots.inputs import PlotInputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = np.array([1.0, 2.0, 3.0, 2.5, -0.5])
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 10.0)
LARGEST_SCORES = np.concatenate([np.arange(0.0, 120.0, 2.0), np.arange(120.0, 1001.0, 8.0)])


def temperatures(plot: Plot, inputs: PlotInputs) -> "Figure":
    """Draw the probabilities of one row of scores, one panel for each temperature."""
    fig, axes = figure.subplots(plot.title, 1, len(TEMPERATURES), (11, 3.2), sharey=True)
    names = [f"{score:g}".replace("-", "−") for score in SCORES]
    for panel, temperature in zip(axes[0], TEMPERATURES, strict=True):
        probs = inputs.functions.array("softmax.softmax", SCORES.shape, SCORES, temperature=temperature)
        panel.bar(np.arange(len(SCORES)), probs, color=figure.BLUE)
        figure.label_axes(panel, "score", "", f"temperature {temperature:g}")
        figure.tick_labels(panel, names, x=True)
    axes[0, 0].set_ylabel("probability")
    axes[0, 0].set_ylim(0, 1)
    return fig


def overflow(plot: Plot, inputs: PlotInputs) -> "Figure":
    """Draw the probability of the largest of the scores (s, s - 1, s - 2) for increasing s."""
    rows = LARGEST_SCORES[:, None] - np.arange(3.0)  # (N, 3)
    fig, axes = figure.subplots(plot.title, size=(9, 4.2))
    panel = axes[0, 0]
    yours = inputs.functions.array("softmax.softmax", rows.shape, rows)[:, 0]
    panel.plot(LARGEST_SCORES, yours, color=figure.GREEN, linewidth=12, alpha=0.4, label="softmax.softmax, float64")
    for dtype, color, width in ((np.float64, figure.BLUE, 6), (np.float32, figure.ORANGE, 2)):
        with np.errstate(over="ignore", invalid="ignore"):  # the plot shows this overflow
            powers = np.exp(rows.astype(dtype))
            naive = powers[:, 0] / powers.sum(axis=-1)
        name = np.dtype(dtype).name
        panel.plot(LARGEST_SCORES, naive, color=color, linewidth=width, label=f"exp(x) / Σ exp(x), {name}")
        end = float(np.log(np.finfo(dtype).max))
        panel.axvline(end, color=color, linewidth=0.8, linestyle=":")
        panel.text(end, 0.08, f" exp overflows in {name}\n at {end:.1f}; from here on: nan", color=color, fontsize=9)
    figure.label_axes(panel, "s, the largest of the scores s, s − 1, s − 2", "probability of the largest score")
    panel.set_ylim(0, 1)
    panel.legend(frameon=False, loc="upper right")
    return fig

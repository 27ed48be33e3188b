"""Plots of single functions: token ids, softmax, layer norm, activations."""

import numpy as np

from autograder.course import Plot
from autograder.drawing import figure
from autograder.models.plot_data import computations
from autograder.models.plot_data.computations import LARGEST_SCORES, NORM_WIDTH, SCORES, TEMPERATURES, VECTOR_KINDS
from autograder.models.plots.inputs import PlotInputs


def token_ids(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the id of every character of a text, in the order of the text."""
    data = computations.token_ids(inputs.functions, inputs.text)
    text, vocabulary, ids = data.text, data.vocabulary, data.ids
    fig, [[panel]] = figure.subplots(
        plot.title, size=(max(6.0, 1.5 + 0.28 * len(text)), max(3.0, 1.4 + 0.24 * len(vocabulary)))
    )
    # Dots only: a line from one to the next would suggest that an id between two others means something.
    panel.scatter(np.arange(len(ids)), ids, color=figure.BLUE, marker="s", s=40, zorder=2)
    figure.label_axes(panel, "position in the text (character)", "token id (character)")
    figure.tick_labels(panel, [figure.visible_character(char) for char in text], x=True)
    panel.set_yticks([*vocabulary.values()])
    panel.set_yticklabels(
        [f"{figure.visible_character(char)}  {index}" for char, index in vocabulary.items()], parse_math=False
    )
    panel.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    panel.set_axisbelow(True)
    return fig


def temperatures(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the probabilities of one row of scores, one panel for each temperature."""
    fig, axes = figure.subplots(plot.title, 1, len(TEMPERATURES), (10, 3.2), sharey=True)
    names = computations.score_labels(SCORES.tolist())
    computed = zip(axes[0], TEMPERATURES, computations.temperatures(inputs.functions), strict=True)
    for panel, temperature, probs in computed:
        panel.bar(np.arange(len(SCORES)), probs, color=figure.BLUE)
        figure.label_axes(panel, "score", "", f"temperature {temperature:g}")
        figure.tick_labels(panel, names, x=True)
    axes[0, 0].set_ylabel("probability")
    axes[0, 0].set_ylim(0, 1)
    return fig


def overflow(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the probability of the largest of the scores (s, s - 1, s - 2) for increasing s."""
    yours, naive = computations.overflow(inputs.functions)
    fig, axes = figure.subplots(plot.title, 3, 1, (9, 5.4), sharex=True, sharey=True)
    panels = axes[:, 0]
    panels[0].plot(LARGEST_SCORES, yours, color=figure.GREEN, linewidth=3)
    figure.label_axes(panels[0], "", "probability", "softmax.softmax, float64")
    for panel, formula, color in zip(panels[1:], naive, (figure.BLUE, figure.ORANGE), strict=True):
        end = formula.end
        panel.plot(LARGEST_SCORES, formula.probs, color=color, linewidth=3)
        panel.axvspan(end, LARGEST_SCORES[-1], color="#e0e0e0")
        panel.text(
            (end + LARGEST_SCORES[-1]) / 2, 0.5, f"from {end:.1f} on,\nexp overflows: nan", ha="center", va="center"
        )
        figure.label_axes(panel, "", "probability", f"exp(x) / Σ exp(x), {formula.dtype}")
    panels[2].set_xlabel("s, the largest of the scores s, s − 1, s − 2")
    panels[0].set_ylim(0, 1)
    panels[0].margins(x=0)
    return fig


def layernorm(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the values of each vector as dots on a line, with mean and standard deviation."""
    x, normed = computations.layernorm(inputs.functions)
    fig, axes = figure.subplots(plot.title, 1, 2, (10, 4.2), sharey=True)
    for panel, values, title in ((axes[0, 0], x, "before"), (axes[0, 1], normed, "after, with γ = 1 and β = 0")):
        for row, numbers in enumerate(values):
            panel.plot(numbers, np.full(NORM_WIDTH, row), "o", color=figure.BLUE, markersize=5, alpha=0.5)
            panel.errorbar(numbers.mean(), row - 0.25, xerr=numbers.std(), color=figure.ORANGE, marker="|", capsize=4)
        panel.axvline(0, color="gray", linewidth=0.6)
        figure.label_axes(panel, "value of a feature", "", title)
        figure.tick_labels(panel, VECTOR_KINDS, y=True)
    axes[0, 0].set_ylabel("vector")
    axes[0, 0].set_ylim(len(VECTOR_KINDS) - 0.6, -0.6)
    axes[0, 0].plot([], [], color=figure.ORANGE, label="mean ± standard deviation")
    axes[0, 0].legend(frameon=False, loc="upper right", fontsize=9)
    return fig


def activations(plot: Plot, inputs: PlotInputs) -> "figure.Figure":
    """Draw the functions (left) and their slopes (right): the backward functions with an upstream gradient of 1."""
    x, computed = computations.activations(inputs.functions)
    fig, axes = figure.subplots(plot.title, 1, 2, (10, 4.2))
    for activation, color, style in zip(computed, (figure.ORANGE, figure.BLUE), ("--", "-"), strict=True):
        axes[0, 0].plot(x, activation.values, color=color, linestyle=style, label=activation.label)
        axes[0, 1].plot(x, activation.slopes, color=color, linestyle=style, label=activation.label)
    figure.label_axes(axes[0, 0], "x, before the activation", "after the activation", "the functions")
    figure.label_axes(axes[0, 1], "x, before the activation", "slope", "their derivatives")
    for panel in axes[0]:
        panel.axhline(0, color="gray", linewidth=0.6)
        panel.legend(frameon=False, loc="upper left")
    return fig

"""Pictures of assignments 6 and 7: layer norm and the activations."""

from typing import TYPE_CHECKING

import numpy as np

from autograder.workspace.plots import Picture
from autograder.workspace.plots import figure as paper
from autograder.workspace.plots.inputs import Subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 24
KINDS = ("small", "large", "shifted", "one outlier")


def vectors() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Four vectors that need normalising for different reasons, (4, D)."""
    x = np.random.default_rng(6).normal(size=(len(KINDS), WIDTH))
    x *= np.array([0.3, 4.0, 1.0, 1.0])[:, None]
    x[2] += 8.0
    x[3, 5] = 12.0
    return x


def layernorm(picture: Picture, subject: Subject) -> "Figure":
    """The values of each vector as dots on a line, with mean and standard deviation."""
    x = vectors()
    normed = subject.work.array("layernorm.layernorm", x.shape, x, np.ones(WIDTH), np.zeros(WIDTH))
    figure, axes = paper.sheet(picture.title, 1, 2, (11, 4), sharey=True)
    for plot, values, title in ((axes[0, 0], x, "before"), (axes[0, 1], normed, "after, with γ = 1 and β = 0")):
        for row, numbers in enumerate(values):
            plot.plot(numbers, np.full(WIDTH, row), "o", color=paper.BLUE, markersize=5, alpha=0.5)
            plot.errorbar(numbers.mean(), row - 0.25, xerr=numbers.std(), color=paper.ORANGE, marker="|", capsize=4)
        plot.axvline(0, color="gray", linewidth=0.6)
        paper.plain(plot, "value of a feature", "", title)
        paper.ticks(plot, KINDS, y=True)
    axes[0, 0].set_ylabel("vector")
    axes[0, 0].set_ylim(len(KINDS) - 0.6, -0.6)
    axes[0, 0].plot([], [], color=paper.ORANGE, label="mean ± standard deviation")
    axes[0, 0].legend(frameon=False, loc="upper right", fontsize=8)
    return figure


def activations(picture: Picture, subject: Subject) -> "Figure":
    """The functions left, their slopes right (the backward functions with an upstream gradient of 1)."""
    x = np.linspace(-4.0, 4.0, 401)
    figure, axes = paper.sheet(picture.title, 1, 2, (11, 4.2))
    for name, colour, style in (("relu", paper.ORANGE, "--"), ("gelu", paper.BLUE, "-")):
        value = subject.work.array(f"ffn.{name}", x.shape, x)
        slope = subject.work.array(f"ffn.{name}_backward", x.shape, np.ones_like(x), x)
        label = {"relu": "ReLU", "gelu": "GELU"}[name]
        axes[0, 0].plot(x, value, color=colour, linestyle=style, label=label)
        axes[0, 1].plot(x, slope, color=colour, linestyle=style, label=label)
    paper.plain(axes[0, 0], "x, before the activation", "after the activation", "the functions")
    paper.plain(axes[0, 1], "x, before the activation", "slope", "their derivatives")
    for plot in axes[0]:
        plot.axhline(0, color="gray", linewidth=0.6)
        plot.legend(frameon=False, loc="upper left")
    return figure

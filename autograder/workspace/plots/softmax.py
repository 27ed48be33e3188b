"""Pictures of assignment 2: softmax."""

from typing import TYPE_CHECKING

import numpy as np

from autograder.workspace.plots import Picture
from autograder.workspace.plots import figure as paper
from autograder.workspace.plots.inputs import Subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = np.array([1.0, 2.0, 3.0, 2.5, -0.5])
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 10.0)
LARGEST_SCORES = np.concatenate([np.arange(0.0, 120.0, 2.0), np.arange(120.0, 1001.0, 8.0)])


def temperatures(picture: Picture, subject: Subject) -> "Figure":
    """The probabilities of one row of scores, one panel for each temperature."""
    figure, axes = paper.sheet(picture.title, 1, len(TEMPERATURES), (11, 3.2), sharey=True)
    names = [f"{score:g}".replace("-", "−") for score in SCORES]
    for plot, temperature in zip(axes[0], TEMPERATURES, strict=True):
        probs = subject.work.array("softmax.softmax", SCORES.shape, SCORES, temperature=temperature)
        plot.bar(np.arange(len(SCORES)), probs, color=paper.BLUE)
        paper.plain(plot, "score", "", f"temperature {temperature:g}")
        paper.ticks(plot, names, x=True)
    axes[0, 0].set_ylabel("probability")
    axes[0, 0].set_ylim(0, 1)
    return figure


def overflow(picture: Picture, subject: Subject) -> "Figure":
    """The probability of the largest of the scores (s, s - 1, s - 2), for larger and larger s."""
    rows = LARGEST_SCORES[:, None] - np.arange(3.0)  # (N, 3)
    figure, axes = paper.sheet(picture.title, size=(9, 4.2))
    plot = axes[0, 0]
    yours = subject.work.array("softmax.softmax", rows.shape, rows)[:, 0]
    plot.plot(LARGEST_SCORES, yours, color=paper.GREEN, linewidth=12, alpha=0.4, label="softmax.softmax, float64")
    for dtype, colour, width in ((np.float64, paper.BLUE, 6), (np.float32, paper.ORANGE, 2)):
        with np.errstate(over="ignore", invalid="ignore"):  # that is what the picture is about
            powers = np.exp(rows.astype(dtype))
            naive = powers[:, 0] / powers.sum(axis=-1)
        name = np.dtype(dtype).name
        plot.plot(LARGEST_SCORES, naive, color=colour, linewidth=width, label=f"exp(x) / Σ exp(x), {name}")
        end = float(np.log(np.finfo(dtype).max))
        plot.axvline(end, color=colour, linewidth=0.8, linestyle=":")
        plot.text(end, 0.08, f" exp overflows in {name}\n at {end:.1f}; from here on: nan", color=colour, fontsize=9)
    paper.plain(plot, "s, the largest of the scores s, s − 1, s − 2", "probability of the largest score")
    plot.set_ylim(0, 1)
    plot.legend(frameon=False, loc="upper right")
    return figure

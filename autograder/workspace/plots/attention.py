"""Pictures of assignment 4: attention, step by step and query by query."""

import math
from typing import TYPE_CHECKING

import numpy as np

from autograder.workspace.plots import Picture
from autograder.workspace.plots import figure as paper
from autograder.workspace.plots.inputs import Array, Subject, drawable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = ("the", "river", "bank", "was", "green")
LENGTH, WIDTH = len(WORDS), 4


def example() -> tuple[Array, Array, Array]:
    """Queries, keys and values of the example, (T, K) each: fixed numbers, rounded so that one can follow them."""
    rng = np.random.default_rng(4)
    q, k, v = (rng.normal(scale=1.0, size=(LENGTH, WIDTH)).round(1) for _ in range(3))
    return q, k, v


def _attend(subject: Subject) -> tuple[Array, Array, Array]:
    """The causal mask, the output and the weights of the example, from the subject's functions."""
    q, k, v = example()
    mask = subject.work.array("attention.causal_mask", (LENGTH, LENGTH), LENGTH)
    values = subject.work.arrays("attention.attention", 2, q, k, v, mask=mask.astype(bool))
    out, weights = (
        drawable(value, shape, "attention.attention")
        for value, shape in zip(values, ((LENGTH, WIDTH), (LENGTH, LENGTH)), strict=True)
    )
    return mask, out, weights


def steps(picture: Picture, subject: Subject) -> "Figure":
    """Scores, masked scores, weights and output side by side."""
    q, k, _ = example()
    mask, out, weights = _attend(subject)
    scores = q @ k.T / math.sqrt(WIDTH)
    masked = np.where(mask > 0, scores, -np.inf)
    largest = float(np.abs(scores).max())
    figure, axes = paper.sheet(picture.title, 1, 4, (16, 4.2))
    limits = {"vmin": -largest, "vmax": largest}
    for plot, values, x, title, signed, more in (
        (axes[0, 0], scores, "key", "scores: q kᵀ / √K", True, limits),
        (axes[0, 1], masked, "key", "after the mask", True, limits),
        (axes[0, 2], weights, "key", "weights: softmax of each row", False, {"vmin": 0.0, "vmax": 1.0}),
        (axes[0, 3], out, "feature", "output: weights times v", True, {}),
    ):
        image = paper.heat(plot, values, x, "query", title, signed, **more)
        paper.numbers(plot, values)
        paper.ticks(plot, WORDS, y=True, x=x == "key")
        paper.whole_numbers(plot, x=x != "key")
        label = {"weights: softmax of each row": "weight", "output: weights times v": "value"}.get(title, "score")
        paper.scale(figure, image, plot, label)
    return figure


def queries(picture: Picture, subject: Subject) -> "Figure":
    """One bar chart for each query."""
    _, _, weights = _attend(subject)
    figure, axes = paper.sheet(picture.title, 1, LENGTH, (14, 3.2), sharey=True)
    for plot, word, row in zip(axes[0], WORDS, weights, strict=True):
        plot.bar(np.arange(LENGTH), row, color=paper.BLUE)
        paper.plain(plot, "key", "", f"query “{word}”")
        paper.ticks(plot, WORDS, x=True)
        plot.tick_params(axis="x", labelsize=8)
    axes[0, 0].set_ylabel("attention weight")
    axes[0, 0].set_ylim(0, 1.05)
    return figure

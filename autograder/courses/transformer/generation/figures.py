"""Rows of probabilities, and what a cache saves."""

from typing import Any

import numpy as np

from autograder.courses.transformer.common.figures.diagram import INK, MUTED, PAPER, PLAIN_EDGE, TINTS, Diagram
from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller

SCORES = np.array([3.2, 2.9, 2.2, 1.6, 1.2, 0.4, -0.3, -1.0])
NAMES = "aeionlst"


def sampling(functions: FunctionCaller) -> str:
    """Return one row of probabilities under temperature, top-k and top-p."""
    settings: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "temperature 1"), ({"temperature": 0.5}, "temperature 0.5"), ({"temperature": 2.0}, "temperature 2"),
        ({"top_k": 3}, "top_k=3"), ({"top_p": 0.9}, "top_p=0.9"), ({"temperature": 0.0}, "temperature 0"),
    )  # fmt: skip
    fig, axes = figure.subplots("The probabilities that the next token is drawn from", 2, 3, (9, 5), sharey=True)
    for panel, (options, title) in zip(axes.flat, settings, strict=True):
        probs = functions.array("generation.next_token_probs", SCORES.shape, SCORES, **options)
        panel.bar(np.arange(len(SCORES)), probs, color=[figure.BLUE if p > 0 else figure.ORANGE for p in probs])
        for i in np.flatnonzero(probs == 0):
            panel.text(i, 0.02, "0", ha="center", color=figure.ORANGE)
        figure.label_axes(panel, "next token", "", title)
        figure.tick_labels(panel, list(NAMES), x=True)
    for panel in axes[:, 0]:
        panel.set_ylabel("probability")
    return small_svg(fig)


def kv_cache(_: FunctionCaller) -> str:
    """Return which keys and queries are computed for each new token, without and with a cache."""
    d = Diagram(860, 308)
    names = ("h", "e", "l", "l", "o")
    for left, title, cached in ((60, "without a cache", False), (480, "with a cache", True)):
        d.text(left, 16, title, 14, "start", bold=True)
        d.labels(names, left, 42, 56)
        for step in range(5):
            y = 58 + 38 * step
            d.text(left - 8, y + 16, f"{step + 1}", 13, "end", MUTED)
            for t in range(step + 1):
                new = not cached or t == step
                d.rect(left + 56 * t, y, 53, 34, TINTS[1] if new else PAPER, figure.ORANGE if new else PLAIN_EDGE)
                d.text(left + 56 * t + 26, y + 17, "k, v" if new else "kept", 13, color=INK if new else MUTED)
    d.note(
        270,
        "Orange: keys and values computed in this step; white: kept from earlier steps. The 15 computations become 5;",
        "for T tokens, T (T + 1) / 2 become T. The query of the last position still attends to all keys.",
    )
    return d.svg()


FIGURES = (sampling, kv_cache)

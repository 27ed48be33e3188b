"""Pictures of a running softmax, of attention in blocks, and of what becomes of a draft."""

from typing import Any

import numpy as np

from autograder.courses.transformer.common.figures.diagram import MUTED, PAPER, PLAIN, PLAIN_EDGE, TINTS, Diagram
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller


def online_softmax(functions: FunctionCaller) -> str:
    """Return the example of the lesson: four scores in two blocks, and the state after each."""
    exps, v = np.array([1.0, 2.0, 8.0, 4.0]), np.array([[10.0], [20.0], [30.0], [40.0]])
    d = Diagram(860, 222)
    state: tuple[Any, ...] = (-np.inf, 0.0, 0.0)
    for at, title in enumerate(("block 1", "block 2")):
        x, part = 40 + 420 * at, slice(2 * at, 2 * at + 2)
        d.text(x, 16, title, 14, "start", bold=True)
        for i, value in enumerate(exps[part]):
            d.box(x + 84 * i, 34, 80, 34, f"log {value:g}", fill=TINTS[at])
        d.arrow((x + 82, 70), (x + 82, 104))
        state = tuple(functions.values("fast.online_softmax_step", 3, *state, np.log(exps[None, part]), v[part]))
        maximum, total, weighted = (float(np.ravel(value)[0]) for value in state)
        shown = (("maximum", f"log {np.exp(maximum):g}"), ("total", f"{total:g}"), ("weighted", f"{weighted:g}"))
        for i, (name, text) in enumerate(shown):
            d.text(x + 40 + 84 * i, 116, name, 13, color=MUTED)
            d.box(x + 84 * i, 128, 80, 34, text)
    d.arrow((292, 145), (456, 145))
    d.text(374, 134, "total and weighted", 13, color=MUTED)
    d.text(374, 160, "times 2/8", 13, color=MUTED)
    d.note(194, "The values are 10, 20, 30 and 40. At the end, 56.25 / 1.875 = 30 is the output of attention.", x=40)
    return d.svg()


def attention_blocks(_: FunctionCaller) -> str:
    """Return which blocks of scores causal attention computes."""
    d, cell = Diagram(860, 308), 56
    d.text(260 + 2 * cell, 16, "keys, in blocks", 13, color=MUTED)
    d.text(246, 34 + 2 * cell, "queries, in blocks", 13, "end", MUTED)
    for row, column in np.ndindex(4, 4):
        x, y = 260 + cell * column, 34 + cell * row
        fill = PAPER if column > row else TINTS[0]
        d.rect(x, y, cell - 3, cell - 3, fill, PLAIN_EDGE, -1 if column > row else 1, 0)
        if column == row:
            steps = range(4)
            for i in steps:
                for j in steps:
                    if j > i:
                        d.rect(x + 13 * j, y + 13 * i, 14, 14, PLAIN, PLAIN, radius=0)
            d.rect(x, y, cell - 3, cell - 3, "none", PLAIN_EDGE, 1, 0)
    for y, fill, line, text in (
        (64, TINTS[0], 1, "computed, then thrown away"),
        (114, PLAIN, 1, "masked: later keys"),
        (164, PAPER, -1, "not read at all"),
    ):
        d.rect(530, y, 30, 30, fill, PLAIN_EDGE, line, 0)
        d.text(574, y + 15, text, 14, "start")
    d.note(282, "Only one block of scores exists at a time. Of n² blocks, n (n + 1) / 2 are computed: here 10 of 16.")
    return d.svg()


def speculative(_: FunctionCaller) -> str:
    """Return two rows of probabilities as bars: what is kept, what is rejected, what is drawn in its place."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    d, scale, floor = Diagram(860, 284), 360.0, 220.0
    for panel, title in enumerate(("drafted by the small model, q", "after the choice: exactly p")):
        left = 60 + 300 * panel
        d.text(left, 16, title, 14, "start", bold=True)
        for i, (large, small) in enumerate(zip(p, q, strict=True)):
            kept = scale * min(large, small)
            rest = scale * (max(small - large, 0) if panel == 0 else max(large - small, 0))
            x = left + 76 * i
            d.rect(x, floor - kept, 56, kept, TINTS[0], PLAIN_EDGE, radius=0)
            if rest:
                d.rect(x, floor - kept - rest, 56, rest, PAPER if panel == 0 else TINTS[1],
                       figure.ORANGE, -1 if panel == 0 else 1, 0)  # fmt: skip
                d.text(x + 28, floor - kept - rest / 2, f"{rest / scale:.1f}", 13)
            d.text(x + 28, floor - kept / 2, f"{kept / scale:.1f}", 13)
            d.text(x + 28, floor + 14, f"token {i}", 13)
    for y, fill, edge, line, text in (
        (70, TINTS[0], PLAIN_EDGE, 1, "kept: min(p, q)"),
        (116, PAPER, figure.ORANGE, -1, "rejected: q − p"),
        (162, TINTS[1], figure.ORANGE, 1, "drawn instead: p − q"),
    ):
        d.rect(654, y, 26, 26, fill, edge, line, 0)
        d.text(690, y + 13, text, 14, "start")
    d.note(264, "What is rejected and what is drawn in its place is the same amount: 0.3.", x=60)
    return d.svg()


FIGURES = (online_softmax, attention_blocks, speculative)

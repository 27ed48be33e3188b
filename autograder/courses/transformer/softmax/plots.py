"""Panels of the plots: probabilities at several temperatures, and where exp overflows."""

from typing import Any

import numpy as np

from autograder.drawing import panels
from autograder.drawing.function_caller import FunctionCaller
from autograder.drawing.panels import Panels

SCORES = np.array([1.0, 2.0, 3.0, 2.5, -0.5])
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 10.0)
LARGEST_SCORES = np.concatenate([np.arange(0.0, 120.0, 2.0), np.arange(120.0, 1001.0, 8.0)])


def temperatures(functions: FunctionCaller, text: str | None) -> Panels:
    """Return the probabilities of one row of scores, a panel for each temperature."""
    labels = [f"{score:g}".replace("-", "−") for score in SCORES.tolist()]
    rows = [functions.array("softmax.softmax", SCORES.shape, SCORES, temperature=heat) for heat in TEMPERATURES]
    y = panels.spanning("probability", 0, 1, *rows)
    return len(TEMPERATURES), [
        panels.bars(f"temperature {temperature:g}", "score", labels, y, row)
        for temperature, row in zip(TEMPERATURES, rows, strict=True)
    ]


def overflow(functions: FunctionCaller, text: str | None) -> Panels:
    """Return the probability of the largest of the scores (s, s - 1, s - 2) for increasing s, and by naive formulas."""
    rows = LARGEST_SCORES[:, None] - np.arange(3.0)  # (N, 3)
    yours = functions.array("softmax.softmax", rows.shape, rows)[:, 0]
    end = float(LARGEST_SCORES[-1])
    x = panels.axis("s, the largest of the scores s, s − 1, s − 2", 0, end)
    y = panels.spanning("probability", 0, 1, yours)
    drawn = [panels.lines("softmax.softmax, float64", x, y, panels.series("", LARGEST_SCORES, yours, color=2))]
    dtypes: tuple[np.dtype[Any], ...] = np.dtype(np.float64), np.dtype(np.float32)
    for color, dtype in enumerate(dtypes):
        with np.errstate(over="ignore", invalid="ignore"):  # the plot shows this overflow
            powers = np.exp(rows.astype(dtype))
            naive = panels.series("", LARGEST_SCORES, powers[:, 0] / powers.sum(axis=-1), color=color)
        panel = panels.lines(f"exp(x) / Σ exp(x), {dtype.name}", x, y, naive)
        start = float(np.log(np.finfo(dtype).max))
        label = f"from {start:.1f} on, exp overflows: nan"
        drawn.append({**panel, "marks": [{"kind": "band", "label": label, "x": [[start, end]], "y": []}]})
    return 1, drawn

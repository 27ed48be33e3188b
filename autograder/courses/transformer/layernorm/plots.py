"""The panels of the plot of four vectors, before and after layer norm."""

import numpy as np

from autograder.drawing import panels
from autograder.drawing.function_caller import Array, FunctionCaller
from autograder.drawing.panels import Axis, Marks, Panel, Panels

WIDTH = 24
KINDS = ("small", "large", "shifted", "one outlier")


def vectors() -> Array:
    """Return four vectors that need normalizing for different reasons, (4, D)."""
    x = np.random.default_rng(6).normal(size=(len(KINDS), WIDTH))
    x *= np.array([0.3, 4.0, 1.0, 1.0])[:, None]
    x[2] += 8.0
    x[3, 5] = 12.0
    return x


def before_and_after(functions: FunctionCaller, text: str | None) -> Panels:
    """Return the values of the vectors, with mean and standard deviation of each."""
    titles = ("before", "after, with γ = 1 and β = 0")
    x = vectors()
    values = x, functions.array("layernorm.layernorm", x.shape, x, np.ones(WIDTH), np.zeros(WIDTH))
    low, high = min(float(part.min()) for part in values), max(float(part.max()) for part in values)
    margin = 0.03 * (high - low)  # for the dots at the ends
    drawn: list[Panel] = []
    for title, part in zip(titles, values, strict=True):
        axis = panels.axis("value of a feature", low - margin, high + margin)
        y: Axis = {**panels.categories("vector", KINDS), "low": -0.6, "reversed": True}
        dots = [panels.series("", row, [number] * len(row), style="dots") for number, row in enumerate(part)]
        means = [(float(row.mean()), float(row.std())) for row in part]
        marks: Marks = {
            "kind": "range",
            "label": "mean ± standard deviation",
            "x": [[mean - deviation, mean + deviation, mean] for mean, deviation in means],
            "y": [number - 0.3 for number in range(len(part))],
        }
        drawn.append({**panels.lines(title, axis, y, *dots), "marks": [marks]})
    return 2, drawn

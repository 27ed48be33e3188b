"""The panels of the plot of both activations and their slopes."""

import numpy as np

from autograder.drawing import panels
from autograder.drawing.function_caller import FunctionCaller
from autograder.drawing.panels import Panel, Panels, Style


def activations(functions: FunctionCaller, text: str | None) -> Panels:
    """Return both functions, and their slopes: gradients for an upstream gradient of 1."""
    x = np.linspace(-4.0, 4.0, 401)
    names = "relu", "gelu"
    styles: tuple[Style, ...] = ("dashed", "line")
    drawn: list[Panel] = []
    values = [functions.array(f"ffn.{name}", x.shape, x) for name in names]
    slopes = [functions.array(f"ffn.{name}_backward", x.shape, np.ones_like(x), x) for name in names]
    labeled = ("the functions", "after the activation", values), ("their derivatives", "slope", slopes)
    for title, label, parts in labeled:
        low, high = min(float(part.min()) for part in parts), max(float(part.max()) for part in parts)
        series = [
            panels.series(name, x, part, color=color, style=style)
            for name, part, color, style in zip(("ReLU", "GELU"), parts, (1, 0), styles, strict=True)
        ]
        axes = panels.axis("x, before the activation", float(x[0]), float(x[-1])), panels.axis(label, low, high)
        drawn.append(panels.lines(title, *axes, *series))
    return 2, drawn

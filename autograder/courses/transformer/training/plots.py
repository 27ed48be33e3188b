"""The panel of the plot of the learning rate."""

import numpy as np

from autograder.drawing import panels
from autograder.drawing.function_caller import Array, FunctionCaller
from autograder.drawing.panels import Panels

WARMUPS = (10, 50, 0)
STEPS, LARGEST_RATE = 200, 1e-3


def learning_rate(functions: FunctionCaller, text: str | None) -> Panels:
    """Return the schedule with several numbers of warm-up steps."""

    def rate(step: int, warmup: int) -> Array:
        return functions.array("training.learning_rate", (), step, LARGEST_RATE, LARGEST_RATE / 10, warmup, STEPS)

    steps = range(STEPS + 20)  # a few more than the schedule has
    rows = [np.array([rate(step, warmup) for step in steps]) for warmup in WARMUPS]
    drawn = [
        panels.series(f"{warmup} steps of warm-up", steps, row, color=color)
        for color, (warmup, row) in enumerate(zip(WARMUPS, rows, strict=True))
    ]
    x, y = panels.axis("step", 0, steps[-1]), panels.spanning("learning rate", 0, LARGEST_RATE, *rows)
    return 1, [panels.lines("", x, y, *drawn)]

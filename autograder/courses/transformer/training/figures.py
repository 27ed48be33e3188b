"""The loss of a small GPT."""

import numpy as np

from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller

MEAN_OF = 25  # steps


def loss(_: FunctionCaller) -> str:
    """Return the loss curve of the run."""
    seen = measured()
    fig, [[panel]] = figure.subplots("The loss of a small GPT on names", size=(9, 4.2))
    steps = np.arange(len(seen["losses"])) * MEAN_OF + MEAN_OF / 2
    panel.plot(steps, seen["losses"], color=figure.BLUE, label=f"training (mean of {MEAN_OF} steps)")
    panel.plot(*zip(*seen["validation"], strict=True), "o-", color=figure.ORANGE, label="validation")
    uniform = float(np.log(len(seen["chars"])))
    panel.axhline(
        uniform, color="gray", linestyle=":", label=f"all characters equally likely: log {len(seen['chars'])}"
    )
    figure.label_axes(panel, "step", "loss (nats per character)")
    panel.legend(frameon=False)
    return small_svg(fig)


FIGURES = (loss, "learning-rate")

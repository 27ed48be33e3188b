"""What a trained feed-forward network makes of its input."""

import numpy as np

from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.drawing import figure
from autograder.drawing.function_caller import Array, FunctionCaller


def input_and_output(panel: "figure.Axes", normed: Array, added: Array) -> None:
    """Draw each feature of each position as a dot: input of a feed-forward network across, its output up."""
    panel.scatter(normed.ravel(), added.ravel(), s=14, color=figure.BLUE, alpha=0.6, linewidths=0)
    panel.axhline(0, color="gray", linewidth=0.6)
    panel.axvline(0, color="gray", linewidth=0.6)
    figure.label_axes(panel, "input, after layer norm", "output", "last block: each feature of each position")


def ffn_scatter(_: FunctionCaller) -> str:
    """Return inputs and outputs of the last feed-forward network, as in `headway plot ffn-hidden`."""
    seen = measured()
    fig, [[panel]] = figure.subplots("What a feed-forward network makes of its input", size=(6, 4.4))
    input_and_output(panel, np.array(seen["ffn_input"]), np.array(seen["ffn_output"]))
    return small_svg(fig)


FIGURES = (ffn_scatter, "activations")

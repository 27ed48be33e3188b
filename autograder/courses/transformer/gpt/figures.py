"""What a model writes before and after training."""

import numpy as np

from autograder.courses.transformer.common.figures.small_svg import small_svg
from autograder.courses.transformer.common.figures.trained_model import measured
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller


def untrained_output(_: FunctionCaller) -> str:
    """Return the probabilities of the next character and a sample, before and after training."""
    seen = measured()
    names = [figure.visible_character(char) for char in seen["chars"]]
    fig, axes = figure.subplots("The next character after “mar”", 2, 1, (9, 5), sharex=True, sharey=True)
    for panel, probabilities, color, sample, when in zip(
        axes[:, 0],
        seen["probabilities"],
        (figure.ORANGE, figure.BLUE),
        seen["samples"],
        ("before", "after"),
        strict=True,
    ):
        panel.bar(np.arange(len(names)), probabilities, color=color)
        text = "".join(map(figure.visible_character, sample[:52]))
        figure.label_axes(panel, "", "probability")
        panel.set_title(f"{when} training; it writes: {text}", fontsize="medium", loc="left", parse_math=False)
        panel.axhline(1 / len(names), color="gray", linestyle=":", linewidth=1)
    figure.tick_labels(axes[1, 0], names, x=True)
    axes[1, 0].set_xlabel("next character (dotted: all equally likely)")
    return small_svg(fig)


FIGURES = (untrained_output,)

"""Which numbers share a mean and a variance."""

from autograder.courses.transformer.common.figures.diagram import MUTED, TINTS, Diagram
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller


def normalized_axes(_: FunctionCaller) -> str:
    """Return which numbers share a mean and a variance: layer norm beside batch norm."""
    d = Diagram(860, 270)
    for left, title, comment in (
        (70, "layer norm", "over each row: the D features of one token"),
        (500, "batch norm", "over each column: one feature of all tokens"),
    ):
        d.text(left, 16, title, 14, "start", bold=True)
        d.text(left, 40, "D features", 13, "start", MUTED)
        for row in range(5):
            for column in range(6):
                fill = TINTS[(row if title == "layer norm" else column) % 4]
                d.rect(left + 50 * column, 54 + 34 * row, 48, 32, fill, radius=2)
        if title == "layer norm":
            d.rect(left - 2, 86, 302, 36, "none", figure.ORANGE, 3, 3)
        else:
            d.rect(left + 48, 52, 52, 170, "none", figure.ORANGE, 3, 3)
        d.text(left, 244, comment, 13, "start")
        d.text(left - 8, 122, "B · T", 13, "end", MUTED)
        d.text(left - 8, 140, "tokens", 13, "end", MUTED)
    return d.svg()


FIGURES = (normalized_axes, "layernorm")

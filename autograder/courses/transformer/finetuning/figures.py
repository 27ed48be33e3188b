"""Pictures of LoRA: the matrices of one layer, and what of W they change."""

from autograder.courses.transformer.common.figures.diagram import MUTED, PLAIN, PLAIN_EDGE, TINTS, Diagram
from autograder.drawing.function_caller import FunctionCaller


def lora(_: FunctionCaller) -> str:
    """Return the frozen matrix, and beside it the product of two narrow ones, of the same shape."""
    d = Diagram(860, 262)
    d.text(50, 110, "x", 16, bold=True)
    d.arrow((66, 110), (126, 110))
    d.rect(130, 40, 190, 140, PLAIN, PLAIN_EDGE, 1, 0)
    d.text(225, 100, "W, frozen", 15, bold=True)
    d.text(225, 124, "4,096 × 4,096 = 16,777,216", 13, color=MUTED)
    d.text(352, 110, "+", 18, bold=True)
    d.text(400, 110, "α/r", 16)
    d.rect(440, 40, 22, 140, TINTS[0], PLAIN_EDGE, 1, 0)
    d.text(451, 110, "A", 15, bold=True)
    d.rect(490, 99, 190, 22, TINTS[1], PLAIN_EDGE, 1, 0)
    d.text(585, 110, "B", 15, bold=True)
    d.rect(490, 40, 190, 140, "none", PLAIN_EDGE, -1, 0)
    d.text(451, 26, "r = 8", 13, color=MUTED)
    d.text(585, 144, "A B has the shape of W", 13, color=MUTED)
    d.arrow((688, 110), (750, 110))
    d.text(768, 110, "y", 16, bold=True)
    d.text(451, 196, "4,096 × 8", 13, color=MUTED)
    d.text(585, 196, "8 × 4,096", 13, color=MUTED)
    d.note(230, "Only A and B are trained: 65,536 numbers, 256 times fewer than in W.", x=130)
    return d.svg()


FIGURES = (lora,)

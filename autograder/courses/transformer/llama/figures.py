"""Pictures of the model: its map, and the bits of a number in BF16."""

import numpy as np

from autograder.courses.transformer.common.figures.diagram import MUTED, TINTS, Diagram
from autograder.drawing.function_caller import FunctionCaller


def bf16(_: FunctionCaller) -> str:
    """Return the bits of π as a float32 and, below them, those that BF16 keeps."""
    bits = f"{int(np.float32(np.pi).view(np.uint32)):032b}"
    d = Diagram(860, 182)
    for first, last, title in ((0, 1, "sign"), (1, 9, "exponent"), (9, 32, "fraction")):
        d.text(112 + 11.5 * (first + last), 16, title, 13, color=MUTED)
    for row, (name, length, value) in enumerate((("float32", 32, "3.1415927"), ("BF16", 16, "3.140625"))):
        y = 34 + 56 * row
        d.text(20, y + 10, name, 14, "start", bold=True)
        d.text(20, y + 28, value, 13, "start", MUTED)
        for at, bit in enumerate(bits[:length]):
            d.box(112 + 23 * at, y, 21, 34, bit, size=13, fill=TINTS[(at > 0) + (at > 8)])
    d.note(162, "π. BF16 keeps the first 16 bits: all of the sign and the exponent, and 7 bits of the fraction.")
    return d.svg()


FIGURES = (bf16,)

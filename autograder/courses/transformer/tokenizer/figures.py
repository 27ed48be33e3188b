"""Windows of a text as a batch."""

from autograder.courses.transformer.common.figures.diagram import MUTED, PLAIN, TINTS, Diagram
from autograder.drawing import figure
from autograder.drawing.function_caller import FunctionCaller


def batch(functions: FunctionCaller) -> str:
    """Return windows of a text as a batch: inputs and targets."""
    text = "hello world"
    d = Diagram(860, 268)
    d.text(20, 20, "the text, with two windows of T = 4 characters", 14, "start")
    for i, char in enumerate(text):
        fill = TINTS[0] if 1 <= i < 5 else TINTS[1] if 6 <= i < 10 else PLAIN
        d.rect(20 + 44 * i, 40, 40, 40, fill)
        d.text(40 + 44 * i, 60, figure.visible_character(char), 16)
        d.text(40 + 44 * i, 94, str(i), 13, color=MUTED)
    chars, stoi, _ = functions.values("tokenizer.build_vocab", 3, text)
    shown = " ".join(map(figure.visible_character, chars))
    ids = functions.array("tokenizer.encode", (len(text),), text, stoi).astype(int)
    for left, title, shift in ((20, "x (B, T): the windows", 0), (470, "y (B, T): the targets, one later", 1)):
        d.text(left, 128, title, 14, "start", bold=True)
        for row, start in enumerate((1, 6)):
            for t in range(4):
                char = text[start + t + shift]
                x, y = left + 86 * t, 146 + 46 * row
                d.rect(x, y, 80, 40, TINTS[row])
                name = figure.visible_character(char)
                d.text(x + 40, y + 20, f"{name} → {ids[start + t + shift]}", 15)
    d.note(252, f"The id of a character is its place in the sorted vocabulary: {shown} are 0 to {len(chars) - 1}.")
    return d.svg()


FIGURES = (batch, "token-ids")

"""The loss curve of a training run as text: in braille dots, or in ASCII."""

from collections.abc import Sequence
from itertools import pairwise

from rich.text import Text

from autograder.documents.records import LossPoint
from autograder.report import styles

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of a braille character, by column and row
BRAILLE = 0x2800
LABEL = 7  # characters of a number at the left axis
CURVE, CURVE_NAME, MARK, ASCII_CURVE, ASCII_MARK = "training", "⠒⠒", "●", "*", "o"


def curve_lines(points: Sequence[LossPoint], until: int, columns: int, rows: int, *, ascii_only: bool) -> list[Text]:
    """Return the curve from step 0 to `until` of that width and height, with axes; no lines for less than a curve.

    The training loss is a line, and each measurement of the validation loss a mark.
    """
    width, values = columns - LABEL - 1, [point.loss for point in points]
    values += [point.validation for point in points if point.validation is not None]
    if len(points) < 2 or width < 10 or rows < 2:
        return []
    low, high = min(values), max(values)
    side, corner, floor = ("|", "+", "-") if ascii_only else ("│", "└", "─")
    lines = []
    for number, row in enumerate(_without_axes(points, until, low, high, width, rows, ascii_only=ascii_only)):
        label = {0: f"{high:.2f}", rows - 1: f"{low:.2f}"}.get(number, "")
        lines.append(Text.assemble((f"{label:>{LABEL}}", "dim"), (side, "dim"), row))
    last = f"{until:,}"
    curve, mark = (ASCII_CURVE, ASCII_MARK) if ascii_only else (CURVE_NAME, MARK)
    lines.append(Text.assemble((" " * LABEL + corner + floor * width, "dim")))
    scale = Text(" " * (LABEL + 1) + "0", "dim")
    legend = Text.assemble((curve, styles.BLUE), (f" {CURVE}   ", "dim"))
    legend.append_text(Text.assemble((mark, styles.ORANGE), (" validation", "dim")))
    room = columns - len(scale) - len(last)
    gap = max(2, (room - len(legend)) // 2)
    if gap * 2 + len(legend) <= room + 1:
        scale.append(" " * gap).append_text(legend)
    return [*lines, scale.append(" " * max(1, columns - len(scale) - len(last))).append(last, "dim")]


def _without_axes(
    points: Sequence[LossPoint], until: int, low: float, high: float, width: int, height: int, *, ascii_only: bool
) -> list[Text]:
    """Return the curve and the marks. A character has two columns of four dots, or is one dot in ASCII."""
    across, down = (1, 1) if ascii_only else (2, 4)

    def place(step: int, loss: float, columns: int, rows: int) -> tuple[int, int]:
        x, y = step / max(1, until), (high - loss) / ((high - low) or 1.0)
        return min(columns - 1, int(x * columns)), min(rows - 1, int(y * rows))

    dots = [[0] * width for _ in range(height)]
    places = [place(point.step, point.loss, width * across, height * down) for point in points]
    for (first_column, first_row), (last_column, last_row) in pairwise([places[0], *places]):
        level = first_row
        for column in range(first_column, last_column + 1):
            share = (column - first_column + 1) / (last_column - first_column + 1)
            before, level = level, round(first_row + share * (last_row - first_row))
            for row in range(min(before, level), max(before, level) + 1):
                dots[row // down][column // across] |= _DOTS[column % across][row % down]
    drawn: list[list[str | tuple[str, str]]] = [
        [(ASCII_CURVE if ascii_only else chr(BRAILLE + bits), styles.BLUE) if bits else " " for bits in line]
        for line in dots
    ]
    for point in points:
        if point.validation is not None:
            column, row = place(point.step, point.validation, width, height)
            drawn[row][column] = (ASCII_MARK if ascii_only else MARK, styles.ORANGE)
    return [Text.assemble(*characters) for characters in drawn]

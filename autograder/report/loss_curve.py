"""The loss curve of a training run as text: in braille dots, or in ASCII."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from autograder.report import styles

MOST_POINTS = 4000  # kept of a long run
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of a braille character, by column and row
BRAILLE = 0x2800
LABEL = 7  # characters of a number at the left axis
CURVE, CURVE_NAME, MARK, ASCII_CURVE, ASCII_MARK = "training", "⠒⠒", "●", "*", "o"


@dataclass(frozen=True)
class LossPoint:
    """The losses after a number of steps."""

    step: int
    loss: float  # on the training text, averaged over the latest steps
    validation: float | None = None
    seconds: float | None = None  # since the run began; None in an earlier part of it, or if nobody asks


def thinned(points: list[LossPoint], most: int = MOST_POINTS) -> list[LossPoint]:
    """Return the points of a loss curve; of a long run only every second one, the last, and those with a validation."""
    if len(points) <= most:
        return points
    return [kept for i, kept in enumerate(points) if i % 2 == 0 or kept is points[-1] or kept.validation is not None]


def curve_lines(points: Sequence[LossPoint], until: int, columns: int, rows: int, *, ascii_only: bool) -> list[Text]:
    """Return the curve from step 0 to `until` of that width and height, with axes; no lines for less than a curve.

    The training loss is a line, and each measurement of the validation loss a mark.
    """
    width, values = columns - LABEL - 1, [point.loss for point in points]
    values += [point.validation for point in points if point.validation is not None]
    if len(points) < 2 or width < 10 or rows < 2:
        return []
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    grid = _Grid(width, rows, ascii_only)
    for point in points:
        grid.draw(point.step / max(1, until), (high - point.loss) / span)
    for point in points:
        if point.validation is not None:
            grid.mark(point.step / max(1, until), (high - point.validation) / span)
    side, corner, floor = ("|", "+", "-") if ascii_only else ("│", "└", "─")
    lines = []
    for number, row in enumerate(grid.rows()):
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


class _Grid:
    """A grid of characters in which a curve is drawn: each has two columns of four dots, or is one dot in ASCII."""

    def __init__(self, width: int, height: int, ascii_only: bool) -> None:
        self._width, self._height, self._ascii = width, height, ascii_only
        self._across, self._down = (1, 1) if ascii_only else (2, 4)
        self._dots = [[0] * width for _ in range(height)]
        self._marks: set[tuple[int, int]] = set()
        self._previous: tuple[int, int] | None = None

    def draw(self, x: float, y: float) -> None:
        """Continue the curve to a point; x and y are from 0 to 1, y downwards."""
        column = min(self._width * self._across - 1, int(x * self._width * self._across))
        row = min(self._height * self._down - 1, int(y * self._height * self._down))
        first_column, first_row = self._previous or (column, row)
        level = first_row
        for at in range(first_column, column + 1):
            share = (at - first_column + 1) / (column - first_column + 1)
            before, level = level, round(first_row + share * (row - first_row))
            for each in range(min(before, level), max(before, level) + 1):
                self._dot(at, each)
        self._previous = (column, row)

    def _dot(self, column: int, row: int) -> None:
        self._dots[row // self._down][column // self._across] |= _DOTS[column % self._across][row % self._down]

    def mark(self, x: float, y: float) -> None:
        """Put a mark at a point."""
        self._marks.add((min(self._height - 1, int(y * self._height)), min(self._width - 1, int(x * self._width))))

    def rows(self) -> list[Text]:
        """Return the lines of the grid."""
        lines = []
        for row, dots in enumerate(self._dots):
            line = Text()
            for column, bits in enumerate(dots):
                if (row, column) in self._marks:
                    line.append(ASCII_MARK if self._ascii else MARK, styles.ORANGE)
                elif bits:
                    line.append(ASCII_CURVE if self._ascii else chr(BRAILLE + bits), styles.BLUE)
                else:
                    line.append(" ")
            lines.append(line)
        return lines

"""Diagrams as SVG: boxes, arrows, text and tables of colored cells. Lengths are in CSS pixels."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from autograder.drawing import figure

# Dark enough on white (contrast of at least 4.5 to 1), and the same in light and dark notebooks: the paper is white.
INK, MUTED, PAPER = "#1a1a1a", "#595959", "#ffffff"
PLAIN, PLAIN_EDGE = "#f0f0f0", "#767676"
MARKED, MARKED_EDGE = "#ffe2b8", figure.ORANGE
TINTS = ("#d6e9f8", "#fbdccb", "#cfeee3", "#f3ddea")  # light forms of the first colors of the palette
FONT = "DejaVu Sans,Verdana,Arial,sans-serif"  # Verdana has the same widths
SMALLEST = 13  # 9.75 points
LEVELS = 24  # shades of one color
FRAMES = "<style>.f:target{display:inline}.f:target~.f:last-of-type{display:none}</style>"  # picture.svg#f0: the first

Point = tuple[float, float]


class Diagram:
    """A drawing on white paper."""

    def __init__(self, width: int, height: int) -> None:
        self.size = width, height
        self._parts: list[str] = []
        self._frames: dict[str, int] = {}  # the number of parts before each, by its label

    def frame(self, label: str) -> None:
        """Begin a frame, which ends where the next one begins or the drawing ends: pages show one at a time.

        Readers without JavaScript see the last one. Draw what all of them show before the first.
        """
        self._frames[label] = len(self._parts)

    def rect(self, x: float, y: float, width: float, height: float, fill: str = PLAIN, edge: str = PLAIN_EDGE,
             line: float = 1, radius: float = 5) -> None:  # fmt: skip
        """Draw a rectangle with rounded corners; its edge is dashed if `line` is negative."""
        dash = ' stroke-dasharray="5 4"' if line < 0 else ""
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}" '
            f'fill="{fill}" stroke="{edge}" stroke-width="{_n(abs(line))}"{dash}/>'
        )

    def text(self, x: float, y: float, text: str, size: float = 14, anchor: str = "middle", color: str = INK,
             bold: bool = False) -> None:  # fmt: skip
        """Write a line of text, centered vertically at y; `anchor` is start, middle or end."""
        weight = ' font-weight="bold"' if bold else ""
        fill = "" if color == INK else f' fill="{color}"'
        where = "" if anchor == "middle" else f' text-anchor="{anchor}"'
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y + 0.35 * size)}" font-size="{_n(size)}"{where}{fill}{weight}>'
            f"{escape(text, quote=False)}</text>"
        )

    def note(self, y: float, *lines: str, x: float = 20) -> None:
        """Write lines of explanation, the first at y."""
        for i, line in enumerate(lines):
            self.text(x, y + 20 * i, line, SMALLEST, "start", MUTED)

    def box(self, x: float, y: float, width: float, height: float, *lines: str, fill: str = PLAIN,
            edge: str = PLAIN_EDGE, size: float = 14, marked: bool = False) -> None:  # fmt: skip
        """Draw a box with centered lines of text; a marked one is part of what the lesson is about."""
        if marked:
            fill, edge = MARKED, MARKED_EDGE
        self.rect(x, y, width, height, fill, edge, 2.5 if marked else 1)
        first = y + height / 2 - (len(lines) - 1) * size * 0.65
        for i, line in enumerate(lines):
            self.text(x + width / 2, first + i * size * 1.3, line, size, bold=marked and i == 0)

    def arrow(self, *points: Point, color: str = INK, width: float = 1.5, dashed: bool = False,
              head: bool = True) -> None:  # fmt: skip
        """Draw a line through the points, with a head at the last one."""
        (x0, y0), (x1, y1) = points[-2:]
        path = [*points]
        if head:
            length = float(np.hypot(x1 - x0, y1 - y0)) or 1.0
            dx, dy = (x1 - x0) / length, (y1 - y0) / length
            back_x, back_y = x1 - 9 * dx, y1 - 9 * dy
            corners = ((x1, y1), (back_x - 4 * dy, back_y + 4 * dx), (back_x + 4 * dy, back_y - 4 * dx))
            self._parts.append(f'<path d="{_path(corners)}z" fill="{color}"/>')
            path[-1] = back_x, back_y
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(f'<path d="{_path(path)}" fill="none" stroke="{color}" stroke-width="{_n(width)}"{dash}/>')

    def circle(self, x: float, y: float, radius: float, text: str = "", fill: str = PAPER, edge: str = INK) -> None:
        """Draw a circle with a character in it, such as a plus sign."""
        self._parts.append(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="{fill}" stroke="{edge}" stroke-width="1.5"/>'
        )
        if text:
            self.text(x, y, text, max(SMALLEST, radius * 1.3))

    def bars(self, values: Any, x: float, y: float, step: float, height: float, color: str, form: str = ".2f") -> None:
        """Draw probabilities as bars `step` apart that stand on y, each with its value above it; 1 is `height` tall."""
        for i, value in enumerate(np.asarray(values).tolist()):
            self.rect(x + i * step + 2, y - value * height, step - 4, value * height, color, color, 0, 0)
            self.text(x + (i + 0.5) * step, y - value * height - 10, number(value, form), SMALLEST)

    def table(self, values: Any, x: float, y: float, cell: float | Point, *, largest: float | None = None,
              form: str | None = None, texts: Any = None, gap: float = 1) -> Point:  # fmt: skip
        """Draw a matrix as colored cells: blue above 0, orange below 0; return its lower right corner.

        Each cell contains its value in the format `form`, or its entry in `texts`, or nothing. Values that are not
        finite are gray.
        """
        values = np.asarray(values, dtype=np.float64)
        width, height = cell if isinstance(cell, tuple) else (cell, cell)
        if largest is None:
            largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
        paths: dict[str, list[str]] = {}
        labels = []
        for row, column in np.ndindex(values.shape):
            value = values[row, column]
            color = shade(value / largest)
            left, top = x + column * width, y + row * height
            across = f"h{_n(width - gap)}v{_n(height - gap)}h{_n(gap - width)}z"
            paths.setdefault(color, []).append(f"M{_n(left)} {_n(top)}{across}")
            text = str(texts[row][column]) if texts is not None else "" if form is None else number(value, form)
            if text:
                ink = PAPER if _is_dark(color) else "#000000"
                labels.append((left + (width - gap) / 2, top + (height - gap) / 2, text, ink))
        for color, cells in paths.items():
            self._parts.append(f'<path fill="{color}" d="{"".join(cells)}"/>')
        for at_x, at_y, text, ink in labels:
            self.text(at_x, at_y, text, SMALLEST, color=ink)
        right, bottom = x + values.shape[1] * width - gap, y + values.shape[0] * height - gap
        self._parts.append(
            f'<path d="M{_n(x)} {_n(y)}H{_n(right)}V{_n(bottom)}H{_n(x)}z" fill="none" stroke="{PLAIN_EDGE}"/>'
        )
        return right, bottom

    def labels(self, texts: Sequence[str], x: float, y: float, step: float, *, down: bool = False,
               size: float = SMALLEST, color: str = INK) -> None:  # fmt: skip
        """Write labels `step` apart: to the right, centered, or down, ending at x."""
        for i, text in enumerate(texts):
            at = (x, y + (i + 0.5) * step) if down else (x + (i + 0.5) * step, y)
            self.text(*at, text, size, "end" if down else "middle", color)

    def svg(self, slider: str = "") -> str:
        """Return the drawing as the text of an SVG file; `slider` says what distinguishes its frames."""
        width, height = self.size
        parts, about = self._parts, ""
        if starts := [*self._frames.values()]:
            about = f' data-frames="{escape("|".join((slider, *self._frames)))}"'
            groups = [parts[start:end] for start, end in zip(starts, [*starts[1:], len(parts)], strict=True)]
            parts = [FRAMES, *parts[: starts[0]]]
            for i, group in enumerate(groups):
                hidden = ' display="none"' if i < len(groups) - 1 else ""
                parts += [f'<g id="f{i}" class="f"{hidden}>', *group, "</g>"]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="{FONT}" fill="{INK}" text-anchor="middle"{about}>\n'
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
        )


def number(value: float, form: str) -> str:
    """Return a number as text, with a true minus sign."""
    if not np.isfinite(value):
        return "−∞" if value < 0 else "∞" if value > 0 else "nan"
    return format(value, form).replace("-", "−")


def shade(value: float) -> str:
    """Return the color of a value from -1 (orange) over 0 (white) to 1 (blue); gray if it is not finite."""
    if not np.isfinite(value):
        return "#d9d9d9"
    level = round(min(1.0, abs(value)) * LEVELS) / LEVELS
    full = figure.BLUE if value > 0 else figure.ORANGE
    return "#" + "".join(f"{round(255 + (part - 255) * level):02x}" for part in _rgb(full))


def _rgb(color: str) -> tuple[int, ...]:
    return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))


def _is_dark(color: str) -> bool:
    red, green, blue = (part / 255 for part in _rgb(color))
    return figure.is_dark(red, green, blue)


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _n(value: float) -> str:
    """Return a length with at most one decimal place."""
    return f"{value:.1f}".removesuffix(".0")

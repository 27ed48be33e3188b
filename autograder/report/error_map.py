"""The map of wrong elements in the terminal, with small slices of the two arrays side by side."""

from typing import Any

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from autograder.report import styles

# The glyphs can be told apart without their colours.
MARKS = {
    "0": ("·", styles.GREEN),
    "1": ("░", styles.BLUE),
    "2": ("▒", styles.ORANGE),
    "3": ("█", styles.VERMILION),
    "n": ("N", f"bold {styles.PINK}"),
}
MARK_WORDS = {"0": "correct", "1": "slightly off", "2": "off", "3": "far off", "n": "nan or infinite"}


def render(picture: dict[str, Any]) -> RenderableType:
    """Return the map, a legend of the marks in it, and the values of a small slice."""
    down, across = ("" if axis.startswith("axis ") else axis for axis in ["", *picture["axes"]][-2:])
    grid = Table.grid(padding=(0, 1))
    for i, row in enumerate(picture["rows"]):
        label = f"{down} ↓" if i == 0 and down and len(picture["rows"]) > 1 else ""
        grid.add_row(Text(label, "dim"), Text.assemble(*((MARKS[mark][0] * 2, MARKS[mark][1]) for mark in row)))
    marks = sorted(set("".join(picture["rows"])))
    legend = Text("  ").join(Text.assemble(MARKS[mark], f" {MARK_WORDS[mark]}") for mark in marks)
    where = " · ".join(filter(None, (picture["at"], across and f"{across} →")))
    slices = [_Slices(picture)] if "yours" in picture else []
    return Group(*([Text(where, "dim")] if where else []), grid, legend, *slices)


class _Slices:
    """Slices of the two arrays and of their difference side by side; empty in a terminal that is too narrow."""

    def __init__(self, picture: dict[str, Any]) -> None:
        slices = {"got": picture["yours"]}
        if "expected" in picture:
            slices["expected"] = picture["expected"]
            rows = zip(picture["yours"], picture["expected"], strict=True)
            slices["difference"] = [list(map(_difference, *pair)) for pair in rows]
        self._blocks = [_block(name, values, picture["rows"]) for name, values in slices.items()]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = sum(console.measure(block, options=options).maximum + 3 for block in self._blocks) - 3
        if width <= options.max_width:
            yield Columns(self._blocks, padding=(0, 3))


def _block(name: str, values: list[list[Any]], marks: list[str]) -> RenderableType:
    table = styles.grid(*["right"] * len(values[0]), gap=1)
    for row, row_marks in zip(values, marks, strict=True):
        colours = ["" if mark == "0" else MARKS[mark][1] for mark in row_marks]
        table.add_row(*(Text(_number(value), colour) for value, colour in zip(row, colours, strict=True)))
    return Group(Text(name, "dim"), table)


def _difference(actual: Any, expected: Any) -> Any:
    if isinstance(actual, float) and isinstance(expected, float):
        return actual - expected
    return "" if actual == expected else "≠"


def _number(value: Any) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{value:.3g}" if is_number else str(value)

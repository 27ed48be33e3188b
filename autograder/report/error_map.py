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
    down, across = ["", *picture["axes"]][-2:]
    down = "" if down.startswith("axis ") else down
    across = "" if across.startswith("axis ") else across
    grid = Table.grid(padding=(0, 1))
    for i, row in enumerate(picture["rows"]):
        label = f"{down} ↓".strip() if i == 0 and down and len(picture["rows"]) > 1 else ""
        cells = Text()
        for mark in row:
            cells.append(MARKS[mark][0] * 2, MARKS[mark][1])
        grid.add_row(Text(label, "dim"), cells)
    marks = sorted(set("".join(picture["rows"])))
    legend = Text("  ").join(Text.assemble(MARKS[mark], f" {MARK_WORDS[mark]}") for mark in marks)
    where = " · ".join(part for part in (picture["at"], f"{across} →" if across else "") if part)
    parts: list[RenderableType] = [Text(where, "dim")] if where else []
    parts += [grid, legend]
    if "yours" in picture:
        parts.append(_side_by_side(picture))
    return Group(*parts)


class _RowIfItFits:
    """A row of blocks; empty in a terminal that is too narrow for all of them."""

    def __init__(self, blocks: list[RenderableType]) -> None:
        self._row = Columns(blocks, padding=(0, 3))
        self._blocks = blocks

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = sum(console.measure(block, options=options).maximum + 3 for block in self._blocks) - 3
        if width <= options.max_width:
            yield self._row


def _side_by_side(picture: dict[str, Any]) -> RenderableType:
    blocks = {"got": picture["yours"]}
    if "expected" in picture:
        blocks["expected"] = picture["expected"]
        blocks["difference"] = [
            [_difference(actual, expected) for actual, expected in zip(actual_row, expected_row, strict=True)]
            for actual_row, expected_row in zip(picture["yours"], picture["expected"], strict=True)
        ]
    return _RowIfItFits([_block(name, values, picture["rows"]) for name, values in blocks.items()])


def _block(name: str, values: list[list[Any]], marks: list[str]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for _ in values[0]:
        table.add_column(justify="right", no_wrap=True)
    for row, row_marks in zip(values, marks, strict=True):
        cells = [
            (_number(value), "" if mark == "0" else MARKS[mark][1]) for value, mark in zip(row, row_marks, strict=True)
        ]
        table.add_row(*(Text(*cell) for cell in cells))
    return Group(Text(name, "dim"), table)


def _difference(actual: Any, expected: Any) -> Any:
    if isinstance(actual, float) and isinstance(expected, float):
        return actual - expected
    return "" if actual == expected else "≠"


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    return f"{value:.3g}" if isinstance(value, (int, float)) else str(value)

"""The small picture of wrong elements in the terminal, and small arrays side by side."""

from typing import Any

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from autograder.report import styles

# Glyphs that stay apart without their colours.
MARKS = {
    "0": ("·", styles.GREEN),
    "1": ("░", styles.BLUE),
    "2": ("▒", styles.ORANGE),
    "3": ("█", styles.VERMILION),
    "n": ("N", f"bold {styles.PINK}"),
}
WORDS = {"0": "right", "1": "a little off", "2": "off", "3": "wrong", "n": "nan or infinite"}


def render(picture: dict[str, Any]) -> RenderableType:
    """The picture, a legend of the marks that occur in it, and the numbers of a small slice."""
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
    found = sorted(set("".join(picture["rows"])))
    legend = Text("  ").join(Text.assemble((MARKS[m][0], MARKS[m][1]), f" {WORDS[m]}") for m in found)
    where = " · ".join(part for part in (picture["at"], f"{across} →" if across else "") if part)
    parts: list[RenderableType] = [Text(where, "dim")] if where else []
    parts += [grid, legend]
    if "yours" in picture:
        parts.append(_side_by_side(picture))
    return Group(*parts)


class _IfItFits:
    """A row of blocks, or nothing where the terminal is too narrow for all of them."""

    def __init__(self, blocks: list[RenderableType]) -> None:
        self._row = Columns(blocks, padding=(0, 3))
        self._blocks = blocks

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = sum(console.measure(block, options=options).maximum + 3 for block in self._blocks) - 3
        if width <= options.max_width:
            yield self._row


def _side_by_side(picture: dict[str, Any]) -> RenderableType:
    blocks = {"yours": picture["yours"]}
    if "expected" in picture:
        blocks["expected"] = picture["expected"]
        blocks["difference"] = [
            [_difference(a, b) for a, b in zip(mine, right, strict=True)]
            for mine, right in zip(picture["yours"], picture["expected"], strict=True)
        ]
    return _IfItFits([_block(name, values, picture["rows"]) for name, values in blocks.items()])


def _block(name: str, values: list[list[Any]], marks: list[str]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for _ in values[0]:
        table.add_column(justify="right", no_wrap=True)
    for row, line in zip(values, marks, strict=True):
        table.add_row(*(Text(_number(v), "" if m == "0" else MARKS[m][1]) for v, m in zip(row, line, strict=True)))
    return Group(Text(name, "dim"), table)


def _difference(mine: Any, right: Any) -> Any:
    return mine - right if isinstance(mine, float) and isinstance(right, float) else "" if mine == right else "≠"


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    return f"{value:.3g}" if isinstance(value, (int, float)) else str(value)

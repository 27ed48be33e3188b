"""The map of wrong elements in the terminal, with small slices of the two arrays side by side."""

from typing import Any

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from autograder.documents.reading import Document
from autograder.report import styles
from autograder.report.value_words import (
    MAP_GLYPHS,
    difference,
    map_axes,
    map_legend_with_thresholds,
    short_number,
    threshold_note,
)
from autograder.report.wording import LABELS

MAX_SLICE = 5  # largest number of rows and columns of a slice whose numbers fit beside the map
COLORS = {"0": styles.GREEN, "1": styles.BLUE, "2": styles.ORANGE, "3": styles.VERMILION, "n": f"bold {styles.PINK}"}


def render(check: Document) -> RenderableType:
    """Return the map of a check, a legend of the marks in it, and the values of a small slice."""
    picture = check["error_map"]
    down, across = map_axes(picture)
    grid = Table.grid(padding=(0, 1))
    for i, row in enumerate(picture["rows"]):
        label = f"{down} ↓" if i == 0 and down and len(picture["rows"]) > 1 else ""
        grid.add_row(Text(label, "dim"), Text.assemble(*((MAP_GLYPHS[mark] * 2, COLORS[mark]) for mark in row)))
    words = map_legend_with_thresholds(check)
    entries = (Text.assemble((MAP_GLYPHS[mark], COLORS[mark]), f" {text}") for mark, text in words.items())
    legend = Text("  ").join(entries)
    note = [Text(threshold_note(check), "dim")] if threshold_note(check) else []
    where = " · ".join(filter(None, (picture["at"], across and f"{across} →")))
    is_small = "yours" in picture and max(picture["shape"]) <= MAX_SLICE
    slices = [_Slices(picture)] if is_small else []
    return Group(*([Text(where, "dim")] if where else []), grid, legend, *note, *slices)


class _Slices:
    """Slices of the two arrays and of their difference side by side; empty in a terminal that is too narrow."""

    def __init__(self, picture: dict[str, Any]) -> None:
        slices = {LABELS["yours"]: picture["yours"]}
        if "expected" in picture:
            slices[LABELS["expected"]] = picture["expected"]
            rows = zip(picture["yours"], picture["expected"], strict=True)
            slices[LABELS["difference"]] = [list(map(difference, *pair)) for pair in rows]
        self._blocks = [_block(name, values, picture["rows"]) for name, values in slices.items()]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = sum(console.measure(block, options=options).maximum + 3 for block in self._blocks) - 3
        if width <= options.max_width:
            yield Columns(self._blocks, padding=(0, 3))


def _block(name: str, values: list[list[Any]], marks: list[str]) -> RenderableType:
    table = styles.grid(*["right"] * len(values[0]), gap=1)
    for row, row_marks in zip(values, marks, strict=True):
        colors = ["" if mark == "0" else COLORS[mark] for mark in row_marks]
        table.add_row(*(Text(short_number(value), color) for value, color in zip(row, colors, strict=True)))
    return Group(Text(name, "dim"), table)

"""Two versions of a function in the terminal: side by side, or one below the other where it is narrow.

Lines are marked with signs, as in `diff`, so the comparison can be read without colors.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autograder.report import styles

MINE, THEIRS = ("-", styles.ORANGE), ("+", styles.GREEN)
SIDE_BY_SIDE_WIDTH = 110
CONTEXT = 2  # equal lines shown before and after the others

Rows = Sequence[tuple[str, str, str]]  # comparison, the student's line, the solution's line: see `compare_lines`


def comparison(function: str, rows: Rows, width: int, *, folded: bool = False) -> RenderableType:
    """Return one function's two versions for a terminal of that width; `folded` leaves out long runs of equal lines."""
    if all(how == "same" for how, _, _ in rows):
        return Text.assemble((function, "bold"), ": your code is identical to the solution")
    if folded:
        rows = list(_without_long_runs(rows))
    signs = _signed(MINE, "yours"), "   ", _signed(THEIRS, "the solution")
    legend = Text.assemble((function, "bold"), "   ", *signs, "\n")
    return Group(legend, _side_by_side(rows) if width >= SIDE_BY_SIDE_WIDTH else Group(*_below_each_other(rows)))


def _without_long_runs(rows: Rows) -> Iterator[tuple[str, str, str]]:
    for is_same, group in groupby(rows, lambda row: row[0] == "same"):
        run = list(group)
        if is_same and len(run) > 2 * CONTEXT + 1:
            text = f"… {len(run) - 2 * CONTEXT} equal lines …"
            run[CONTEXT:-CONTEXT] = [("same", text, text)]
        yield from run


def _signed(side: tuple[str, str], text: str) -> Text:
    sign, style = side
    return Text(f"{sign} {text}", style)


def _side_by_side(rows: Rows) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    for ratio in (None, 1, None, 1):
        table.add_column(ratio=ratio, overflow="fold")
    for how, mine, theirs in rows:
        cells = []
        for kind, (sign, style), line in (("mine", MINE, mine), ("theirs", THEIRS, theirs)):
            cells += [Text(sign, style), Text(line, style)] if how in (kind, "other") else [Text(), Text(line)]
        table.add_row(*cells)
    return table


def _below_each_other(rows: Rows) -> Iterator[Text]:
    pending: list[Text] = []  # the solution's lines, shown after the student's lines that they replace
    for how, mine, theirs in rows:
        if how == "other":
            yield _signed(MINE, mine)
            pending.append(_signed(THEIRS, theirs))
            continue
        yield from pending
        pending = []
        yield {"theirs": _signed(THEIRS, theirs), "mine": _signed(MINE, mine)}.get(how, Text(f"  {mine}"))
    yield from pending

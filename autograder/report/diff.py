"""Two versions of a function in the terminal: side by side, or one below the other where it is narrow."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report import styles

LINE_STYLES = {"same": "", "other": styles.ORANGE, "mine": styles.BLUE, "theirs": styles.GREEN}
MARKS = {"same": " ", "other": "|", "mine": "<", "theirs": ">"}
SIDE_BY_SIDE_WIDTH = 110


def render(function: str, rows: Sequence[tuple[str, str, str]], console: Console) -> None:
    """Print one function as rows of (comparison, the student's line, the solution's line).

    The comparison is "same", "other" (the lines differ), "mine" or "theirs" (the line is only in one of them).
    """
    if all(how == "same" for how, _, _ in rows):
        console.print(Text.assemble((function, "bold"), ": your code is identical to the solution"))
        return
    console.print(Text.assemble((function, "bold"), "\n"))
    if console.width >= SIDE_BY_SIDE_WIDTH:
        table = Table.grid(padding=(0, 1), expand=True)
        for ratio in (1, None, 1):
            table.add_column(ratio=ratio, overflow="fold")
        table.add_row(Text("yours", "dim"), "", Text("the solution", "dim"))
        for how, mine, theirs in rows:
            table.add_row(
                Text(mine, LINE_STYLES[how]), Text(MARKS[how], LINE_STYLES[how]), Text(theirs, LINE_STYLES[how])
            )
        console.print(table)
        return
    console.print(Text("< yours   > the solution\n", "dim"))
    pending: list[str] = []  # the solution's lines, printed after the student's lines that they replace
    for how, mine, theirs in [*rows, ("same", "", "")]:
        if how == "other":
            _line(console, "mine", mine)
            pending.append(theirs)
            continue
        for line in pending:
            _line(console, "theirs", line)
        pending = []
        _line(console, how, theirs if how == "theirs" else mine)


def _line(console: Console, how: str, line: str) -> None:
    console.print(Text(f"{MARKS[how]} {line}", LINE_STYLES[how]), soft_wrap=True)

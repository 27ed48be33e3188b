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
    """Print one function as rows of (comparison, the student's line, the solution's line), see `compare_lines`."""
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
            table.add_row(*(Text(text, LINE_STYLES[how]) for text in (mine, MARKS[how], theirs)))
        console.print(table)
        return
    console.print(Text("< yours   > the solution\n", "dim"))
    pending: list[str] = []  # the solution's lines, printed after the student's lines that they replace
    lines: list[tuple[str, str]] = []
    for how, mine, theirs in [*rows, ("same", "", "")]:
        if how == "other":
            lines.append(("mine", mine))
            pending.append(theirs)
        else:
            lines += [*(("theirs", line) for line in pending), (how, theirs if how == "theirs" else mine)]
            pending = []
    for how, line in lines:
        console.print(Text(f"{MARKS[how]} {line}", LINE_STYLES[how]), soft_wrap=True)

"""Two texts side by side in the terminal, or one above the other where it is too narrow for that."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report import styles

STYLES = {"same": "", "other": styles.ORANGE, "mine": styles.BLUE, "theirs": styles.GREEN}
MARKS = {"same": " ", "other": "|", "mine": "<", "theirs": ">"}
WIDE = 110


def render(function: str, rows: Sequence[tuple[str, str, str]], console: Console) -> None:
    """Print the rows (how they compare, yours, the solution's) of one function."""
    if all(how == "same" for how, _, _ in rows):
        console.print(Text.assemble((function, "bold"), ": yours is the solution, letter by letter"))
        return
    console.print(Text.assemble((function, "bold"), "\n"))
    if console.width >= WIDE:
        table = Table.grid(padding=(0, 1), expand=True)
        for ratio in (1, None, 1):
            table.add_column(ratio=ratio, overflow="fold")
        table.add_row(Text("yours", "dim"), "", Text("the solution", "dim"))
        for how, mine, theirs in rows:
            table.add_row(Text(mine, STYLES[how]), Text(MARKS[how], STYLES[how]), Text(theirs, STYLES[how]))
        console.print(table)
        return
    console.print(Text("< yours   > the solution\n", "dim"))
    ours: list[str] = []
    for how, mine, theirs in [*rows, ("same", "", "")]:
        if how == "other":
            _line(console, "mine", mine)
            ours.append(theirs)
            continue
        for line in ours:
            _line(console, "theirs", line)
        ours = []
        _line(console, how, theirs if how == "theirs" else mine)


def _line(console: Console, how: str, line: str) -> None:
    console.print(Text(f"{MARKS[how]} {line}", STYLES[how]), soft_wrap=True)

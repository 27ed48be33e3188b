"""Hints in the terminal: the steps shown so far, the newest last, and the next command."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

CODE = r"`[^`]+`"


def render(
    function: str, steps: Sequence[tuple[str, str]], total: int, commands: Sequence[str], console: Console
) -> None:
    """Print the hints of one function.

    Args:
        function: its qualified name.
        steps: kind and text of each step that is shown.
        total: how many there are.
        commands: the commands that check the function and show one more hint.
    """
    console.print(Text.assemble((function, "bold"), f" · hint {len(steps)} of {total}\n"))
    console.print(hint_table(steps))
    check_command, hint_command = commands
    if len(steps) < total:
        console.print(Text(f"\nNext: try it, then: {check_command}\nStill stuck? {hint_command}"), soft_wrap=True)
    else:
        console.print(
            Text(f"\nThere are no more hints for this function.\nNext: try it, then: {check_command}"), soft_wrap=True
        )


def hint_table(steps: Sequence[tuple[str, str]]) -> Table:
    """Return the steps as a table of number, kind and text; code in the text is bold."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1)
    for number, (kind, text) in enumerate(steps, 1):
        if number > 1:
            table.add_row()
        newest = number == len(steps)
        body = Text(text)
        body.highlight_regex(CODE, "bold")
        table.add_row(Text(str(number), "bold" if newest else "dim"), Text(kind), body)
    return table


def render_choice(assignment: str, counts: Mapping[str, int], commands: Sequence[str], console: Console) -> None:
    """Print the hint commands of an assignment's functions.

    Args:
        counts: number of steps shown so far, by function.
        commands: the command for each function.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(style="dim")
    for command, count in zip(commands, counts.values(), strict=True):
        table.add_row(Text(command), Text(f"{count} shown" if count else ""))
    console.print(Text(f"{assignment}: each function has its own hints. Choose one:\n"))
    console.print(table)


def render_notes(notes: Sequence[str], console: Console) -> None:
    """Print notes about the workspace's state, one per line."""
    for note in notes:
        console.print(Text(f"! {note}"), soft_wrap=True)

"""Hints in the terminal: the steps shown so far, the newest last, and the command that comes next."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

CODE = r"`[^`]+`"


def render(function: str, steps: Sequence[tuple[str, str]], total: int, asks: Sequence[str], console: Console) -> None:
    """Print the steps of one function.

    Args:
        function: its qualified name.
        steps: kind and text of each step that is shown.
        total: how many there are.
        asks: what to type to check the function, and to see one more hint.
    """
    console.print(Text.assemble((function, "bold"), f" · hint {len(steps)} of {total}\n"))
    console.print(table_of(steps))
    check, more = asks
    if len(steps) < total:
        console.print(Text(f"\nNext: try it, then: {check}\nStill stuck? {more}"), soft_wrap=True)
    else:
        console.print(Text(f"\nThere are no more hints for this one.\nNext: try it, then: {check}"), soft_wrap=True)


def table_of(steps: Sequence[tuple[str, str]]) -> Table:
    """The steps below each other, each text beside its number and kind; code in it is bold."""
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
    """Print how to ask, where an assignment was named: hints belong to functions.

    Args:
        counts: how many steps of each function were shown.
        commands: what to type for each of them.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(style="dim")
    for command, count in zip(commands, counts.values(), strict=True):
        table.add_row(Text(command), Text(f"{count} seen" if count else ""))
    console.print(Text(f"{assignment}: each function has hints of its own. Ask for one of them:\n"))
    console.print(table)


def render_notes(notes: Sequence[str], console: Console) -> None:
    """Print what is to be said about the state, one line each."""
    for note in notes:
        console.print(Text(f"! {note}"), soft_wrap=True)

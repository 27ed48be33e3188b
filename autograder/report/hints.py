"""Hints in the terminal: the steps shown so far, the newest last, and the next command."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report.styles import grid


def render(
    function: str,
    steps: Sequence[tuple[str, str]],
    total: int,
    commands: tuple[str, str],
    console: Console,
    solution: str | None = None,
    points: str = "",
    *,
    passes: bool = False,
) -> None:
    """Print the shown steps (kind and text) of a function's `total` hints, and the commands that follow.

    These check the function and show one more hint. After the last one, `solution` is the command that shows the
    solution, if there is one. `points` are those of the code as it is now, if known.
    """
    about = f" · hint {len(steps)} of {total}{f' · {points}' if points else ''}\n"
    console.print(Text.assemble((function, "bold"), about))
    console.print(hint_table(steps))
    check_command, hint_command = commands
    more = len(steps) < total
    before = "" if more else "There are no more hints for this function.\n"
    following = "Your code passes already." if passes else f"Next: try it, then: {check_command}"
    after = f"\n{'One more hint:' if passes else 'Still stuck?'} {hint_command}" if more else ""
    if solution and not more:
        after = f"\nTo see the solution{'' if passes else ' (recorded)'}: {solution}"
    console.print(Text(f"\n{before}{following}{after}"), soft_wrap=True)


def hint_table(steps: Sequence[tuple[str, str]]) -> Table:
    """Return the steps as a table of number, kind and text; code in the text is bold."""
    table = grid("right", "dim")
    table.add_column(ratio=1)
    for number, (kind, text) in enumerate(steps, 1):
        if number > 1:
            table.add_row()
        body = Text(text)
        body.highlight_regex("`[^`]+`", "bold")
        table.add_row(Text(str(number), "bold" if number == len(steps) else "dim"), Text(kind), body)
    return table


def render_choice(assignment: str, counts: Mapping[str, int], commands: Sequence[str], console: Console) -> None:
    """Print the hint command of each function of an assignment, with the number of steps shown so far."""
    table = grid("fold", "dim fold")
    for command, count in zip(commands, counts.values(), strict=True):
        table.add_row(Text(command), Text(f"{count} shown" if count else ""))
    console.print(Text(f"{assignment}: each function has its own hints. Choose one:\n"))
    console.print(table)

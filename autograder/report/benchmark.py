"""What `headway bench` found, in the terminal."""

from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report import styles
from autograder.report.check_report import STATUS_STYLES

SHOWN = 10
BAR = 24


@dataclass(frozen=True)
class SpeedComparison:
    """One comparison.

    Attributes:
        tokens_per_second, torch_tokens_per_second: medians over the rounds.
        ratio: yours over PyTorch's, the median of the ratios round by round.
        apart: how far the losses of the first steps are apart.
        functions: shares of the time by function, largest first.
        slowest: the function of one's own in which most of the time goes; empty if there is none.
        hint: what usually makes it faster.
        own: assignments that are the student's own.
    """

    preset: str
    tokens_per_second: float
    torch_tokens_per_second: float
    ratio: float
    apart: float
    functions: dict[str, float]
    slowest: str
    hint: str
    own: tuple[str, ...] = field(default=())


def render(found: SpeedComparison, console: Console) -> None:
    """Print both speeds side by side, where the time goes, and what to do about the slowest function."""
    fastest = max(found.tokens_per_second, found.torch_tokens_per_second)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, speed in (("yours", found.tokens_per_second), ("PyTorch, eager", found.torch_tokens_per_second)):
        bar = Text("█" * max(1, round(BAR * speed / fastest)), STATUS_STYLES["passed"][1] if name == "yours" else "dim")
        table.add_row(Text(name, "bold"), Text(f"{speed:,.0f} tokens/s"), bar)
    console.print(Text(f"Training, the preset {found.preset}, one thread each\n", "dim"))
    console.print(table)
    console.print(Text(f"\nYours is {found.ratio:.2f} times as fast (losses at most {found.apart:.0e} apart)", "bold"))
    console.print(Text("\nWhere your time goes", "dim"))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, share in list(found.functions.items())[:SHOWN]:
        official = bool(found.own) and name.partition(".")[0] not in found.own
        table.add_row(
            Text(name, "dim" if official else ""),
            Text(f"{share:.0%}"),
            Text("█" * round(BAR * share), styles.BLUE).append(" official" if official else "", "dim"),
        )
    console.print(table)
    if found.slowest:
        console.print(Text.assemble("\nTo be faster, begin with ", (found.slowest, "bold"), f": {found.hint}."))
    else:
        console.print(Text("\nYour own functions take no noticeable time. Which they are: headway list --done"))

"""The results of `headway bench` in the terminal."""

from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report import styles
from autograder.report.check_report import STATUS_STYLES

MAX_FUNCTIONS = 10
BAR_WIDTH = 24


@dataclass(frozen=True)
class SpeedComparison:
    """Training speed of the student's GPT and of PyTorch's. The attributes are also keys of the leaderboard document.

    Attributes:
        tokens_per_second, torch_tokens_per_second: medians over the rounds.
        ratio: the student's speed divided by PyTorch's, the median of the rounds' ratios.
        apart: largest difference between the losses of the first steps.
        functions: share of the time by function, largest first.
        slowest: the student's function that takes the most time; empty if none takes a noticeable part.
        hint: what usually makes it faster.
        own: assignments that use the student's code; all of them if empty.
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


def render(comparison: SpeedComparison, console: Console) -> None:
    """Print both speeds, where the time is spent, and how to make the slowest function faster."""
    fastest = max(comparison.tokens_per_second, comparison.torch_tokens_per_second)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, speed in (
        ("yours", comparison.tokens_per_second),
        ("PyTorch, eager", comparison.torch_tokens_per_second),
    ):
        bar = Text(
            "█" * max(1, round(BAR_WIDTH * speed / fastest)), STATUS_STYLES["passed"][1] if name == "yours" else "dim"
        )
        table.add_row(Text(name, "bold"), Text(f"{speed:,.0f} tokens/s"), bar)
    console.print(Text(f"Training with the preset {comparison.preset}, one thread each\n", "dim"))
    console.print(table)
    ratio = f"\nYour GPT trains {comparison.ratio:.2f} times as fast as PyTorch"
    console.print(Text(f"{ratio} (losses differ by at most {comparison.apart:.0e})", "bold"))
    console.print(Text("\nWhere your code spends its time", "dim"))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, share in list(comparison.functions.items())[:MAX_FUNCTIONS]:
        official = bool(comparison.own) and name.partition(".")[0] not in comparison.own
        table.add_row(
            Text(name, "dim" if official else ""),
            Text(f"{share:.0%}"),
            Text("█" * round(BAR_WIDTH * share), styles.BLUE).append(" official" if official else "", "dim"),
        )
    console.print(table)
    if comparison.slowest:
        console.print(Text.assemble("\nStart with ", (comparison.slowest, "bold"), f": {comparison.hint}."))
    else:
        console.print(Text("\nYour own functions take no noticeable time. List them: headway list --done"))

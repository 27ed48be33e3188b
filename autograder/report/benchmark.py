"""The results of `headway bench` in the terminal."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report import styles
from autograder.report.check_report import STATUS_STYLES

MAX_FUNCTIONS = 10
BAR_WIDTH = 24


@dataclass(frozen=True)
class SpeedComparison:
    """Training speed of the student's GPT and of PyTorch's.

    Attributes:
        tokens_per_second, torch_tokens_per_second: both speeds in the round with the median ratio.
        ratios: the student's speed divided by PyTorch's, in each round.
        loss_difference: largest difference between the losses of the first steps.
        functions: share of the time by function, largest first.
        slowest: the student's function that takes the most time; empty if none takes a noticeable part.
        hint: what usually makes it faster.
        student_modules: assignments that use the student's code; empty if all use the official solution.
    """

    preset: str
    tokens_per_second: float
    torch_tokens_per_second: float
    ratios: tuple[float, ...]
    loss_difference: float
    functions: dict[str, float]
    slowest: str
    hint: str
    student_modules: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """The student's speed divided by PyTorch's in the median round."""
        return self.tokens_per_second / self.torch_tokens_per_second


def render(comparison: SpeedComparison, console: Console) -> None:
    """Print both speeds, where the time is spent, and how to make the slowest function faster."""
    trained = "your GPT" if comparison.student_modules else "the solution"
    fastest = max(comparison.tokens_per_second, comparison.torch_tokens_per_second)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, speed, style in (
        (trained, comparison.tokens_per_second, STATUS_STYLES["passed"][1]),
        ("PyTorch, eager", comparison.torch_tokens_per_second, "dim"),
    ):
        bar = Text("█" * max(1, round(BAR_WIDTH * speed / fastest)), style)
        table.add_row(Text(name, "bold"), Text(f"{speed:,.0f} tokens/s"), bar)
    rounds = len(comparison.ratios)
    console.print(
        Text(f"Training with the preset {comparison.preset}, one thread each, median of {rounds} rounds\n", "dim")
    )
    console.print(table)
    ratio = f"\n{trained[0].upper()}{trained[1:]} trains {comparison.ratio:.2f} times as fast as PyTorch"
    spread = f"{min(comparison.ratios):.2f} to {max(comparison.ratios):.2f} in {rounds} rounds"
    console.print(Text(f"{ratio} ({spread}).", "bold"))
    console.print(Text(f"The losses of the first steps differ by at most {comparison.loss_difference:.0e}.", "dim"))
    console.print(Text("\nWhere your code spends its time", "dim"))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for name, share in list(comparison.functions.items())[:MAX_FUNCTIONS]:
        official = bool(comparison.student_modules) and name.partition(".")[0] not in comparison.student_modules
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

"""The results of `headway bench` in the terminal."""

from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from autograder.report.check_report import STATUS_STYLES
from autograder.report.styles import BLUE, grid

MAX_FUNCTIONS = 10
BAR_WIDTH = 24


@dataclass(frozen=True)
class SpeedComparison:
    """Training speed of the student's GPT and of PyTorch's."""

    preset: str
    tokens_per_second: float  # like PyTorch's, in the round with the median ratio
    torch_tokens_per_second: float
    ratios: tuple[float, ...]  # the student's speed divided by PyTorch's, in each round
    loss_difference: float  # largest difference between the losses of the first steps
    functions: dict[str, float]  # share of the time by function, largest first
    slowest: str  # the student's function that takes the most time; empty if none takes a noticeable part
    hint: str  # what usually makes that function faster
    student_modules: tuple[str, ...] = ()  # assignments that use the student's code; empty if none does

    @property
    def ratio(self) -> float:
        """The student's speed divided by PyTorch's in the median round."""
        return self.tokens_per_second / self.torch_tokens_per_second


def render(comparison: SpeedComparison, console: Console) -> None:
    """Print both speeds, where the time is spent, and how to make the slowest function faster."""
    trained = "your GPT" if comparison.student_modules else "the solution"
    speeds = {trained: comparison.tokens_per_second, "PyTorch, eager": comparison.torch_tokens_per_second}
    table = grid("left", "right", "left")
    for name, speed in speeds.items():
        bar = "█" * max(1, round(BAR_WIDTH * speed / max(speeds.values())))
        style = STATUS_STYLES["passed"][1] if name == trained else "dim"
        table.add_row(Text(name, "bold"), Text(f"{speed:,.0f} tokens/s"), Text(bar, style))
    ratios, preset = comparison.ratios, comparison.preset
    rounds = len(ratios)
    console.print(Text(f"Training with the preset {preset}, one thread each, median of {rounds} rounds\n", "dim"))
    console.print(table)
    ratio = f"\n{trained[0].upper()}{trained[1:]} trains {comparison.ratio:.2f} times as fast as PyTorch"
    console.print(Text(f"{ratio} ({min(ratios):.2f} to {max(ratios):.2f} in {rounds} rounds).", "bold"))
    console.print(Text(f"The losses of the first steps differ by at most {comparison.loss_difference:.0e}.", "dim"))
    console.print(Text("\nWhere your code spends its time", "dim"))
    table = grid("left", "right", "left")
    for name, share in list(comparison.functions.items())[:MAX_FUNCTIONS]:
        official = bool(comparison.student_modules) and name.partition(".")[0] not in comparison.student_modules
        bar_text = Text.assemble(("█" * round(BAR_WIDTH * share), BLUE), (" official" if official else "", "dim"))
        table.add_row(Text(name, "dim" if official else ""), Text(f"{share:.0%}"), bar_text)
    console.print(table)
    if comparison.slowest:
        console.print(Text.assemble("\nStart with ", (comparison.slowest, "bold"), f": {comparison.hint}."))
    else:
        console.print(Text("\nYour own functions take no noticeable time. List them: headway list --done"))

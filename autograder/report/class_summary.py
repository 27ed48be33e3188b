"""What a class knows, in the terminal: one screen."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.core.text import counted
from autograder.report.check_report import STATUS_STYLES, STATUS_WORDS
from autograder.report.class_records import ClassRecords

MAX_MISTAKES = 12
MAX_HARD = 8
MAX_UNREAD = 12
MAX_PAIRS = 15
MAX_BEHIND = 12
BEHIND = 0.5  # a share of the score
_BLOCKS = " ▁▂▃▄▅▆▇█"


def render(insight: ClassRecords, console: Console) -> None:
    """Print scores, the commonest named mistakes, the hardest functions, what is slow, and what could not be read."""
    graded = insight.graded
    counts = [f"{len(graded)} graded"]
    counts += [f"{len(insight.missing)} missing"] if insight.missing else []
    counts += [f"{len(insight.unread)} not graded"] if insight.unread else []
    console.print(Text.assemble("\n", (insight.title, "bold"), " · ", ", ".join(counts), "\n"))
    if insight.scored:
        shares = [student.share * 100 for student in insight.scored]
        console.print(Text.assemble(("0 % ", "dim"), _histogram(insight.histogram()), (" 100 %", "dim")))
        mean = sum(shares) / len(shares)
        named = {"median": median(shares), "mean": mean, "lowest": min(shares), "highest": max(shares)}
        console.print(Text(" · ".join(f"{name} {share:.0f} %" for name, share in named.items()) + "\n"))
    _mistakes(insight, console)
    _hardest(insight, console)
    _behind(insight, console)
    _slow(insight, console)
    for student in insight.unread[:MAX_UNREAD]:
        mark, style = STATUS_STYLES["error"]
        console.print(Text.assemble((f"{mark} {student.name}", style), f" · {student.status}: {student.reason}"))
    if len(insight.unread) > MAX_UNREAD:
        console.print(Text(f"… and {len(insight.unread) - MAX_UNREAD} more, all in the page", "dim"))


def _histogram(counts: list[int]) -> Text:
    highest = max([*counts, 1])
    # A bin with somebody in it is never blank.
    return Text(
        "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // highest)] for count in counts), STATUS_STYLES["passed"][1]
    )


def _mistakes(insight: ClassRecords, console: Console) -> None:
    if not insight.mistakes:
        return
    console.print(Text("The commonest named mistakes", "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(style="dim", no_wrap=True)
    for named in insight.mistakes[:MAX_MISTAKES]:
        table.add_row(
            Text(str(len(named.students)), STATUS_STYLES["failed"][1]), Text(named.title), Text(named.function)
        )
    console.print(table)
    more = len(insight.mistakes) - MAX_MISTAKES
    console.print(Text(f"… and {more} more, all in the page\n" if more > 0 else "", "dim"))


def _hardest(insight: ClassRecords, console: Console) -> None:
    """Functions that the fewest pass of those who began them."""
    rows: list[tuple[float, str, Counter[str]]] = []
    for function in insight.functions:
        found = insight.of_function(function)
        began = found.total() - found["not_started"]
        if began and found["passed"] < began:
            rows.append((found["passed"] / began, function, found))
    if not rows:
        return
    console.print(Text("Passed by the fewest who began", "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", overflow="fold")
    for share, function, found in sorted(rows, key=lambda row: row[0])[:MAX_HARD]:
        words = [f"{STATUS_STYLES[status][0]} {found[status]}" for status in STATUS_STYLES if found[status]]
        table.add_row(Text(f"{share:.0%}"), Text(function), Text("  ".join(words)))
    console.print(table)
    seen = {status for _, _, found in rows for status, count in found.items() if count}
    legend = "  ".join(
        f"{mark} {STATUS_WORDS[status]}" for status, (mark, _) in STATUS_STYLES.items() if status in seen
    )
    console.print(Text(f"{legend}\n", "dim"))


def _behind(insight: ClassRecords, console: Console) -> None:
    """Who has less than half, the lowest first, and who handed in nothing: whom to ask how they are."""
    low = sorted((one for one in insight.scored if one.share < BEHIND), key=lambda one: one.share)
    told = [
        (f"Below {BEHIND:.0%}", [f"{one.name} {one.share:.0%}" for one in low]),
        ("Handed in nothing", [one.name for one in insight.missing]),
    ]
    for title, names in told:
        if names:
            more = f" … and {len(names) - MAX_BEHIND} more" if len(names) > MAX_BEHIND else ""
            console.print(Text.assemble((f"{title}: ", "bold"), ", ".join(names[:MAX_BEHIND]) + more))
    if any(names for _, names in told):
        console.print()


def _slow(insight: ClassRecords, console: Console) -> None:
    parts = []
    if insight.slowest:
        seconds, number, function, _ = insight.slowest[0]
        parts.append(f"slowest check {seconds:.2f} s ({function}, {insight.students[number].name})")
    if insight.timed_out:
        parts.append(f"{counted(insight.timed_out, 'check')} out of time")
    if parts:
        console.print(Text(" · ".join(parts) + "\n"))


class SubmissionPair(Protocol):
    """Two submissions that are alike."""

    @property
    def first(self) -> str: ...  # noqa: D102
    @property
    def second(self) -> str: ...  # noqa: D102
    @property
    def share(self) -> float: ...  # noqa: D102
    @property
    def modules(self) -> str: ...  # noqa: D102


def render_pairs(pairs: Sequence[SubmissionPair], console: Console) -> None:
    """Print the pairs of submissions that are alike."""
    if not pairs:
        console.print(Text("No two submissions are suspiciously alike.\n"))
        return
    console.print(Text("Suspiciously alike: for a person to look at, and never a grade", "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(style="dim", overflow="fold")
    for pair in pairs[:MAX_PAIRS]:
        table.add_row(Text(f"{pair.share:.0%}"), Text(f"{pair.first} · {pair.second}"), Text(pair.modules))
    console.print(table)
    more = len(pairs) - MAX_PAIRS
    console.print(Text(f"… and {more} more, all in the page\n" if more > 0 else "", "dim"))

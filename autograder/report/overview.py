"""What there is to do and how far one is, as a table: the curriculum for `headway list`."""

from collections.abc import Mapping
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.curriculum import Assignment, Curriculum, Function
from autograder.curriculum.effort import duration
from autograder.report.terminal import STYLES
from autograder.since import ago


class Entry(Protocol):
    """What the latest check of a function found."""

    @property
    def status(self) -> str:
        """As in the result document."""

    @property
    def earned(self) -> float:
        """Points."""

    @property
    def possible(self) -> float:
        """Points."""

    @property
    def since(self) -> str:
        """When it came to its status, ISO 8601."""


def render(
    curriculum: Curriculum,
    selected: tuple[str, ...],
    console: Console,
    entries: Mapping[str, Entry] | None = None,
    stale: frozenset[str] = frozenset(),
    total: int | None = None,
) -> None:
    """Print the selected functions by assignment, and what each is compared with.

    Args:
        entries: in a workspace, what the latest checks found: then each line has a mark, points, and since when; or
            how long it will take, if it is not begun.
        stale: functions that were changed since they were checked.
        total: of how many functions this is a part, if it is a part.
    """
    table = Table(box=None, pad_edge=False, show_header=False, expand=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    if entries is not None:
        table.add_column(justify="right", no_wrap=True)
        table.add_column(style="dim", no_wrap=True)
    table.add_column(style="dim", overflow="ellipsis", no_wrap=True, ratio=1)
    for assignment in curriculum.assignments:
        functions = [function for function in assignment.functions if function.qualified in selected]
        if functions:
            table.add_row(*_head(assignment, entries))
        for function in functions:
            table.add_row(*_line(function, entries, function.qualified in stale))
    console.print(table)
    if entries is not None:
        counted = {name: entry for name, entry in entries.items() if name in selected}
        done = sum(entry.status == "passed" for entry in counted.values())
        earned = sum(entry.earned for entry in counted.values())
        part = f"{len(selected)} of {total} functions listed, " if total not in (None, len(selected)) else ""
        of = "of them" if part else f"of {len(selected)} functions"
        console.print(Text(f"\n{part}{done} {of} pass · {earned:g} points", "bold"))
        if stale & set(selected):
            console.print(Text("~ changed since it was checked: headway check, or headway to watch", "dim"))
        console.print(Text("One verdict: headway check NAME. What is open: headway list --open"))
    else:
        console.print(Text("\nOne verdict: headway check NAME or headway check NAME.function"))


def _head(assignment: Assignment, entries: Mapping[str, Entry] | None) -> list[Text]:
    cells = [Text(str(assignment.number), "bold"), Text(assignment.module, "bold")]
    if entries is not None:
        mine = [entries[f.qualified] for f in assignment.functions if f.qualified in entries]
        possible = sum(
            entries[f.qualified].possible for f in assignment.functions if f.qualified in entries and not f.bonus
        )
        known = len(mine) == len(assignment.functions)
        points = f"{sum(entry.earned for entry in mine):g} / {possible:g}" if known else ""
        cells += [Text(points, "bold"), Text()]
    takes = f" · {duration(assignment.minutes)}" if assignment.minutes else ""
    return [*cells, Text(assignment.title).append(takes, "dim")]


def _line(function: Function, entries: Mapping[str, Entry] | None, stale: bool) -> list[Text]:
    bonus = " (bonus)" if function.bonus else ""
    about = Text(f"against {function.yardstick}{bonus}" if function.torch else bonus.strip())
    if entries is None:
        return [Text(), Text(f"  {function.name}"), about]
    entry = entries.get(function.qualified)
    mark, style = STYLES[entry.status if entry else "not_started"]
    started = entry is not None and entry.status != "not_started"
    points = f"{entry.earned:g} / {entry.possible:g}" if entry and started else ""
    takes = duration(function.minutes) if function.minutes else ""
    since = ago(entry.since) if entry and started else takes
    return [Text(mark, style), Text(f"  {function.name}{' ~' if stale else ''}"), Text(points), Text(since), about]

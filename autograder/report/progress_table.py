"""What there is to do, how long it takes and how far one is, as a table: the curriculum for `headway list`."""

import textwrap
from collections.abc import Mapping
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.core.relative_time import ago
from autograder.curriculum import Assignment, Curriculum, Function
from autograder.curriculum.effort import DIFFICULTY, duration
from autograder.report.check_report import STATUS_STYLES

DOTS = ("", "●○○", "●●○", "●●●")


class FunctionProgress(Protocol):
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
    entries: Mapping[str, FunctionProgress] | None = None,
    stale: frozenset[str] = frozenset(),
    total: int | None = None,
) -> None:
    """Print the selected functions by assignment: what each is in PyTorch, how long it takes, how hard it is.

    Args:
        entries: in a workspace, what the latest checks found: then each line has a mark, since when, and points.
        stale: functions that were changed since they were checked.
        total: of how many functions this is a part, if it is a part.
    """
    functions = [curriculum.functions[name] for name in selected]
    widths = [len(_name(function, stale)) for function in functions]
    sides = (SINCE, POINTS, TAKES, HARD) if entries is not None else (TAKES, HARD)
    room = console.width - MARK - sum(sides) - GAP * (1 + len(sides))
    width = max((n for n in widths if room >= WIDE_ROOM or n <= LONG_NAME), default=0) + GAP
    console.print(_titles(entries is not None, width))
    for assignment in curriculum.assignments:
        listed = [function for function in functions if function.module == assignment.module]
        if listed:
            console.print(_head(assignment, entries))
            console.print(_lines(assignment, listed, entries, stale, (width, room)))
    if any(function.difficulty for function in functions):
        console.print(Text("\n" + "   ".join(f"{DOTS[n]} {words}" for n, words in DIFFICULTY.items()), "dim"))
    if entries is None:
        console.print(Text("\nOne verdict: headway check NAME or headway check NAME.function"))
        return
    console.print(_summary(functions, entries, total))
    if stale & set(selected):
        console.print(Text("~ changed since it was checked: headway check, or headway to watch", "dim"))
    left = "" if total not in (None, len(functions)) else ". What is open: headway list --open"
    console.print(Text(f"One verdict: headway check NAME{left}"))


def _table(*columns: int) -> Table:
    """Without lines: a mark, what has the rest of the width, and columns of these widths at the right edge."""
    table = Table(box=None, pad_edge=False, show_header=False, expand=True)
    table.add_column(justify="right", no_wrap=True, width=MARK)
    table.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    for width in columns:
        table.add_column(justify="right", no_wrap=True, width=width)
    return table


# Widths at the right edge: since when, points, how long it takes, how hard it is. A head has no since, and more to say.
SINCE, POINTS, TAKES, HARD = 6, 7, 6, 3
MARK, GAP = 2, 2
INDENT = 4
# Where there is little room for names and what they are in PyTorch: a few long names do not push the rest off the
# screen, a gradient is not said at length, and with very little room nothing is put on lines of its own.
WIDE_ROOM, LONG_NAME, NARROW_ROOM = 74, 26, 30


def _titles(in_workspace: bool, width: int) -> Table:
    table = _table(SINCE, POINTS, TAKES, HARD) if in_workspace else _table(TAKES, HARD)
    titles = ["", "  function".ljust(width) + "in PyTorch", *(("since", "points") if in_workspace else ()), "takes", ""]
    table.add_row(*(Text(title, "dim") for title in titles))
    return table


def _head(assignment: Assignment, entries: Mapping[str, FunctionProgress] | None) -> Table:
    table = _table(POINTS, TAKES + GAP + HARD)
    known = {f: entries[f.qualified] for f in assignment.functions if f.qualified in entries} if entries else {}
    earned = sum(entry.earned for entry in known.values())
    possible = sum(entry.possible for function, entry in known.items() if not function.bonus)
    points = f"{earned:g} / {possible:g}" if len(known) == len(assignment.functions) else ""
    about = Text.assemble((assignment.module, "bold"), "  ", assignment.title)
    table.add_row(Text(str(assignment.number), "bold"), about, Text(points, "bold"), _time(assignment.minutes, "bold"))
    return table


def _lines(
    assignment: Assignment,
    functions: list[Function],
    entries: Mapping[str, FunctionProgress] | None,
    stale: frozenset[str],
    widths: tuple[int, int],
) -> Table:
    """The functions of an assignment. `widths`: of the names, and of names and PyTorch's together."""
    table = _table(TAKES, HARD) if entries is None else _table(SINCE, POINTS, TAKES, HARD)
    for function in functions:
        name = _with_about(assignment, function, _name(function, stale), *widths)
        effort = _time(function.minutes), Text(DOTS[function.difficulty], "dim")
        if entries is None:
            table.add_row("", name, *effort)
            continue
        entry = entries.get(function.qualified)
        mark, style = STATUS_STYLES[entry.status if entry else "not_started"]
        started = entry is not None and entry.status != "not_started"
        points = f"{entry.earned:g} / {entry.possible:g}" if entry and started else ""
        since = ago(entry.since) if entry and started else ""
        table.add_row(Text(mark, style), name, Text(since, "dim"), Text(points), *effort)
    return table


def _with_about(assignment: Assignment, function: Function, name: str, width: int, room: int) -> Text:
    """A function's name and what it is in PyTorch: beside it, or below it where that is too long."""
    forward = next((f for f in assignment.functions if f"{f.name}_backward" == function.name), None)
    its_own = forward is not None and function.torch == f"gradient of {forward.torch}"
    what = "its gradient" if its_own and room < WIDE_ROOM else function.torch
    about = " · ".join(filter(None, ("bonus" if function.bonus else "", what)))
    beside = max(width, len(name) + GAP)
    if beside + len(about) <= room or room < NARROW_ROOM:
        return Text.assemble(name.ljust(beside), (about, "dim"))
    lines = textwrap.wrap(about, room - INDENT)
    return Text.assemble(name, *((f"\n{' ' * INDENT}{line}", "dim") for line in lines))


def _time(minutes: int, style: str = "") -> Text:
    """Nothing for 0: nobody has estimated it."""
    return Text(duration(minutes) if minutes else "", style)


def _name(function: Function, stale: frozenset[str]) -> str:
    return f"  {function.name}{' ~' if function.qualified in stale else ''}"


def _summary(functions: list[Function], entries: Mapping[str, FunctionProgress], total: int | None) -> Text:
    known = [entries[function.qualified] for function in functions if function.qualified in entries]
    done = sum(entry.status == "passed" for entry in known)
    earned = sum(entry.earned for entry in known)
    part = f"{len(functions)} of {total} functions listed, " if total not in (None, len(functions)) else ""
    of = "of them" if part else f"of {len(functions)} functions"
    passed = {name for name, entry in entries.items() if entry.status == "passed"}
    left = sum(f.minutes for f in functions if f.qualified not in passed and not f.bonus)
    ahead = f" · about {duration(left)} to go" if left else ""
    return Text(f"\n{part}{done} {of} pass · {earned:g} points{ahead}", "bold")

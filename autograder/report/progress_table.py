"""The functions of a course with their progress, estimated time and difficulty, for `headway list`."""

import textwrap
from collections.abc import Container, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.core.text import ago
from autograder.course import Assignment, Curriculum, Function
from autograder.course.model import DIFFICULTY, duration
from autograder.documents.results import ProgressEntry, most_urgent
from autograder.report.check_report import STATUS_STYLES
from autograder.report.wording import points_text

DOTS = ("", "●○○", "●●○", "●●●")
# Widths of the columns at the right edge. The heading of an assignment has no "since" and a wider time.
SINCE, TAKES, HARD = 6, 6, 3
MARK, GAP, INDENT = 2, 2, 4
# In a narrow terminal, a few long names must not push the rest off the screen and gradients are shortened; in a very
# narrow one PyTorch's names are cut instead of being wrapped.
NARROW = 72  # columns below which the folded list leaves out the expected time
WIDE_ROOM, LONG_NAME, NARROW_ROOM = 74, 26, 30


def render(
    curriculum: Curriculum,
    selected: tuple[str, ...],
    console: Console,
    entries: Mapping[str, ProgressEntry] | None = None,
    stale: frozenset[str] = frozenset(),
    total: int | None = None,
    unfolded: Container[str] | None = None,
) -> None:
    """Print the selected functions by assignment: PyTorch's name, estimated time, difficulty.

    Args:
        entries: the latest results, which add a mark, the age of the status and the points.
        stale: functions that were changed since, or were written and never checked.
        total: how many functions there are, if `selected` is only a part of them.
        unfolded: the assignments whose functions are listed, each on its line; all of them if it is None.
    """
    functions = [curriculum.functions[name] for name in selected]
    if unfolded is not None:
        _render_folded(curriculum, functions, console, entries, stale, unfolded)
        return
    points = max((len(_points(entries[name])) for name in selected if name in entries), default=0) if entries else 0
    columns = (TAKES, HARD) if entries is None else (SINCE, max(points, len("points")), TAKES, HARD)
    room = console.width - MARK - sum(columns) - GAP * (1 + len(columns))
    lengths = [len(_name(function, stale)) for function in functions]
    width = max((n for n in lengths if room >= WIDE_ROOM or n <= LONG_NAME), default=0) + GAP
    side_titles = ("takes", "") if entries is None else ("since", "points", "takes", "")
    titles = "", "  function".ljust(width) + "in PyTorch", *side_titles
    table = _table(*columns)
    table.add_row(*(Text(title, "dim") for title in titles))
    console.print(table)
    for assignment in curriculum.assignments:
        table = _table(*columns)
        for function in functions:
            if function.module == assignment.module:
                name = _described_name(assignment, function, _name(function, stale), width, room)
                table.add_row(*_function_row(function, name, entries))
        if table.rows:
            console.print(_heading(assignment, entries))
            console.print(table)
    if any(function.difficulty for function in functions):
        console.print(Text("\n" + "   ".join(f"{DOTS[n]} {words}" for n, words in DIFFICULTY.items()), "dim"))
    if entries is None:
        console.print(Text("\nCheck one of them: headway check NAME or headway check NAME.function"))
        return
    _print_summary(functions, entries, total, stale, console)
    console.print(Text("Check one of them: headway check NAME"))
    if total in (None, len(functions)):
        console.print(Text("See what is left: headway list --open"))


def _render_folded(
    curriculum: Curriculum,
    functions: Sequence[Function],
    console: Console,
    entries: Mapping[str, ProgressEntry] | None,
    stale: frozenset[str],
    unfolded: Container[str],
) -> None:
    """Print one line for each assignment, and one for each function of those that are unfolded."""
    points = max((len(_assignment_points(assignment, entries)) for assignment in curriculum.assignments), default=0)
    passed = max(len(f"{len(entry.functions)} of {len(entry.functions)}") for entry in curriculum.assignments)
    shows_time = console.width >= NARROW
    widths = (max(passed, len("functions")), points or None, TAKES + GAP + HARD if shows_time else None)
    table = _table(*filter(None, widths))

    def add_row(mark: Text, about: Text, *cells: Text) -> None:
        table.add_row(mark, about, *(cell for cell, width in zip(cells, widths, strict=True) if width))

    titles = "functions" if entries is None else "passed", "points", "takes"
    add_row(Text(), Text(), *(Text(title, "dim") for title in titles))
    for assignment in curriculum.assignments:
        statuses = [_status(entries, function) for function in assignment.functions]
        changed = " ~" if any(function.qualified in stale for function in assignment.functions) else ""
        about = Text.assemble(f"{assignment.number:>2} ", (assignment.module, "bold"), f"{changed}  {assignment.title}")
        count = f"{statuses.count('passed')} of {len(statuses)}" if entries is not None else str(len(statuses))
        cells = [count, _assignment_points(assignment, entries), _duration(assignment.minutes)]
        add_row(Text(*STATUS_STYLES[most_urgent(statuses)]), about, *map(Text, cells))
        for function in assignment.functions if assignment.module in unfolded else ():
            status = _status(entries, function)
            own = _points(entries[function.qualified]) if entries and status != "not_started" else ""
            bonus = "  bonus" if function.bonus else ""
            name = Text.assemble("   ", STATUS_STYLES[status], _name(function, stale)[1:], (bonus, "dim"))
            effort = Text.assemble(_duration(function.minutes), "  ", (DOTS[function.difficulty], "dim"))
            add_row(Text(), name, Text(), Text(own), effort)
    console.print(table)
    if entries is None:
        console.print(Text("\nList the functions of an assignment: headway list NAME; all of them: headway list --all"))
        return
    _print_summary(functions, entries, None, stale, console)
    console.print(Text("All functions: headway list --all; one assignment: headway list NAME"))


def _status(entries: Mapping[str, ProgressEntry] | None, function: Function) -> str:
    entry = entries.get(function.qualified) if entries else None
    return entry.status if entry else "not_started"


def _assignment_points(assignment: Assignment, entries: Mapping[str, ProgressEntry] | None) -> str:
    """Return the points of an assignment, once any of it was begun."""
    known = _known(assignment, entries)
    return "" if all(entry.status == "not_started" for entry in known.values()) else _total(known)


def _known(assignment: Assignment, entries: Mapping[str, ProgressEntry] | None) -> dict[Function, ProgressEntry]:
    return {f: entries[f.qualified] for f in assignment.functions if f.qualified in entries} if entries else {}


def _total(known: Mapping[Function, ProgressEntry]) -> str:
    earned = sum(entry.earned for entry in known.values())
    return points_text({"earned": earned, "possible": sum(e.possible for f, e in known.items() if not f.bonus)})


def _table(*widths: int) -> Table:
    """Return a table without lines: a mark, a column that takes the remaining width, and columns of these widths."""
    table = Table(box=None, pad_edge=False, show_header=False, expand=True)
    table.add_column(justify="right", no_wrap=True, width=MARK)
    table.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    for width in widths:
        table.add_column(justify="right", no_wrap=True, width=width)
    return table


def _heading(assignment: Assignment, entries: Mapping[str, ProgressEntry] | None) -> Table:
    known = _known(assignment, entries)
    points = _total(known) if len(known) == len(assignment.functions) else ""
    about = Text.assemble((assignment.module, "bold"), "  ", assignment.title)
    texts = str(assignment.number), points, _duration(assignment.minutes)
    number, total, time = (Text(text, "bold") for text in texts)
    table = _table(len(points), TAKES + GAP + HARD)
    table.add_row(number, about, total, time)
    return table


def _points(entry: ProgressEntry) -> str:
    return f"{entry.earned:g} / {entry.possible:g}"


def _function_row(function: Function, name: Text, entries: Mapping[str, ProgressEntry] | None) -> list[Text]:
    effort = [Text(_duration(function.minutes)), Text(DOTS[function.difficulty], "dim")]
    if entries is None:
        return [Text(), name, *effort]
    entry = entries.get(function.qualified)
    if entry is None or entry.status == "not_started":
        return [Text(*STATUS_STYLES["not_started"]), name, Text(), Text(), *effort]
    age, points = Text(ago(entry.since), "dim"), Text(_points(entry))
    return [Text(*STATUS_STYLES[entry.status]), name, age, points, *effort]


def _described_name(assignment: Assignment, function: Function, name: str, width: int, room: int) -> Text:
    """Return a function's name and its PyTorch equivalent, on the next line where it does not fit."""
    torch_by_gradient = {f"{f.name}_backward": f.torch for f in assignment.functions}
    is_its_gradient = function.torch == f"gradient of {torch_by_gradient.get(function.name)}"
    what = "its gradient" if is_its_gradient and room < WIDE_ROOM else function.torch
    about = " · ".join(filter(None, ("bonus" if function.bonus else "", what)))
    name_width = max(width, len(name) + GAP)
    if name_width + len(about) <= room or room < NARROW_ROOM:
        return Text.assemble(name.ljust(name_width), (about, "dim"))
    lines = textwrap.wrap(about, room - INDENT)
    return Text.assemble(name, *((f"\n{' ' * INDENT}{line}", "dim") for line in lines))


def _duration(minutes: int) -> str:
    """Return the estimated time; empty for 0, which means that there is no estimate."""
    return duration(minutes) if minutes else ""


def _name(function: Function, stale: frozenset[str]) -> str:
    return f"  {function.name}{' ~' if function.qualified in stale else ''}"


def _print_summary(
    functions: Sequence[Function],
    entries: Mapping[str, ProgressEntry],
    total: int | None,
    stale: frozenset[str],
    console: Console,
) -> None:
    names = [function.qualified for function in functions]
    known = [entries[name] for name in names if name in entries and name not in stale]
    passed = {name for name, entry in entries.items() if entry.status == "passed"}
    count = f"{sum(entry.status == 'passed' for entry in known)} of {len(functions)} functions pass"
    if total not in (None, len(functions)):
        count = f"{len(functions)} of {total} functions listed; {count.removesuffix(' functions pass')} pass"
    unchecked = stale - entries.keys()
    waiting = sum(function.qualified in unchecked for function in functions)
    count += f", {waiting} {'is' if waiting == 1 else 'are'} not checked yet" if waiting else ""
    changed = sum(function.qualified in stale for function in functions) - waiting
    count += f", {changed} changed since the last check" if changed else ""
    minutes = sum(f.minutes for f in functions if f.qualified not in passed | unchecked and not f.bonus)
    remaining = f" · about {duration(minutes)} of writing to go" if minutes else ""
    console.print(Text(f"\n{count} · {sum(entry.earned for entry in known):g} points{remaining}", "bold"))
    if waiting or changed:
        console.print(Text("~ not checked as it is now: headway check, or headway to watch", "dim"))

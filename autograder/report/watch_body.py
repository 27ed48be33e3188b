"""What stands between the header and the keys of `headway watch`: the report, hints, documentation, the list."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from autograder.report import documentation, styles
from autograder.report.assignment_finished import finished_panel
from autograder.report.check_report import STATUS_STYLES, check_panel
from autograder.report.hints import hint_table

if TYPE_CHECKING:
    from autograder.report.watch_screen import WatchScreen

WIDE = 120  # columns from which the documentation stands beside the failure
GAP = 1  # columns between them


def lines_of(console: Console, *shown: RenderableType, width: int | None = None) -> list[str]:
    """Return what a console prints, by lines."""
    with console.capture() as captured:
        console.print(*shown, sep="\n", width=width)
    return captured.get().rstrip("\n").split("\n")


def render(screen: "WatchScreen", console: Console, room: int) -> list[str]:
    """Return all lines of the body, however many they are; `room` is how many fit."""
    if screen.view is not None:
        return lines_of(console, screen.view)
    is_documented = bool(screen.documentation) and not screen.passing
    if not is_documented or console.width < WIDE:
        main = _main_parts(screen, console, console.width, room)
        if is_documented:
            main.append(documentation.panel(_documented(screen), screen.documentation))
        return lines_of(console, *main) if main else []
    right = max(54, min(84, console.width * 2 // 5))
    left = console.width - right - GAP
    table = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
    table.add_column(width=left)
    table.add_column(width=right)
    panel = documentation.panel(_documented(screen), screen.documentation)
    table.add_row(Group(*_main_parts(screen, console, left, room)), panel)
    return lines_of(console, table)


def _documented(screen: "WatchScreen") -> str:
    """Return the function whose documentation is shown: that of the check, which may not be the current one."""
    return screen.check["function"] if screen.check else screen.focus


def _main_parts(screen: "WatchScreen", console: Console, width: int, room: int) -> list[RenderableType]:
    """Return the hints, then what they are about: the report, what to write, or that it passes."""
    parts: list[RenderableType] = []
    if screen.hint is not None:
        parts.append(_hints(screen, *screen.hint))
        room -= len(lines_of(console, parts[0], width=width))
    if screen.check is not None:
        parts += _report(screen, screen.check, console, width, room)
    elif screen.stub is not None:
        parts.append(_stub(screen, *screen.stub))
    elif screen.passing:
        parts.append(_passed(screen, width))
    return parts


def _report(
    screen: "WatchScreen", check: dict[str, Any], console: Console, width: int, room: int
) -> list[RenderableType]:
    """Return the panel of a check; without its map if the rest of it fits only then."""
    panel = check_panel(check, commands=False, link=screen.link)
    if not check["error_map"] or len(lines_of(console, panel, width=width)) <= room:
        return [panel]
    brief = check_panel(check, commands=False, with_map=False, link=screen.link)
    note = Text("  the map does not fit here; press p to show it alone")
    return [brief, note] if len(lines_of(console, brief, width=width)) < room else [panel]


def _passed(screen: "WatchScreen", columns: int) -> RenderableType:
    mark, style = STATUS_STYLES["passed"]
    lines = Text.assemble((f"{mark} {screen.focus} passes.", f"bold {style}"))
    if screen.next_function is None:
        lines.append("\n\nThe whole course passes: the GPT is all your own. Next: headway train, then headway generate")
    else:
        lines.append("\n\nPress n to go on to ").append(screen.next_function, "bold").append(".")
    if screen.finished is not None:
        return Group(Padding(lines, (0, 2)), finished_panel(screen.finished, columns))
    return Padding(lines, (1, 2))


def _stub(screen: "WatchScreen", file: str, line: int, text: str) -> RenderableType:
    if not line:
        return Text(text)
    place = Text(f"{file}:{line}", f"bold link {screen.link(file, line)}" if screen.link else "bold")
    saving = ". Press e to open it; saving it starts the check."
    if file.endswith(".ipynb"):
        place, saving = Text(file, "bold"), ". Saving the notebook starts the check."
    return Padding(Text.assemble(f"{screen.focus} is not written yet. It is in ", place, saving), (0, 0, 1, 0))


def _hints(screen: "WatchScreen", steps: Sequence[tuple[str, str]], total: int) -> RenderableType:
    if len(steps) < total:
        more = "m shows one more"
    else:
        more = "no more hints · s shows the solution" if screen.offers_solution else "no more hints for this function"
    return Panel(
        hint_table(steps),
        title=Text(f" {screen.focus} · hint {len(steps)} of {total} "),
        title_align="left",
        subtitle=Text(f" {more} · h closes "),
        subtitle_align="right",
        border_style=styles.BLUE,
    )


def help_view(keys: Iterable[tuple[str, str]], marks: Mapping[str, tuple[str, str]]) -> RenderableType:
    """Return a list of all keys with what they do, and of the marks of functions."""
    table = styles.grid("right", "fold")
    for key, meaning in keys:
        table.add_row(Text(key, "bold"), Text(meaning))
    legend = styles.grid("right", "fold")
    for mark, (style, word) in marks.items():
        legend.add_row(Text(mark, style), Text(word))
    return Group(Text("Keys\n", "bold"), Padding(table, (0, 2)), Text("\nMarks\n", "bold"), Padding(legend, (0, 2)))


def listing(screen: "WatchScreen", console: Console, room: int) -> list[str]:
    """Return the part of the list of functions that is around the selected one."""
    rows: list[Text] = []
    cursor_row = 0
    for assignment in screen.curriculum.assignments:
        rows.append(Text(f"{assignment.number:>2} {assignment.module} · {assignment.title}", "bold"))
        for function in assignment.functions:
            mark, style = STATUS_STYLES[screen.statuses.get(function.qualified, "not_started")]
            selected = function.qualified == screen.cursor
            cursor_row = len(rows) if selected else cursor_row
            details = f"  {screen.details.get(function.qualified, '')}{'  (bonus)' if function.bonus else ''}"
            name = function.name, "reverse" if selected else ""
            rows.append(Text.assemble("▶ " if selected else "  ", (f" {mark} ", style), name, (details, "dim")))
    first = max(0, min(cursor_row - room // 2, len(rows) - room))
    return [line for row in rows[first : first + room] for line in lines_of(console, row)[:1]]

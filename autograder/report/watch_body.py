"""The body of `headway watch`, between the header and the keys: the report, hints, documentation, the list."""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import zip_longest

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from autograder.documents.reading import Document
from autograder.report import documentation, styles
from autograder.report.assignment_finished import finished_panel
from autograder.report.check_report import STATUS_STYLES, check_panel
from autograder.report.console import text_console
from autograder.report.hints import hint_table
from autograder.report.watch_state import KEYS, LAST_KEYS, SCROLL_KEYS, WatchScreen
from autograder.report.wording import STATUS_WORDS, broken_file, shortened

WIDE = 120  # columns from which the documentation is beside the failure
GAP = 1  # columns between them


def lines_of(console: Console, *shown: RenderableType) -> list[str]:
    """Return what a console prints, by lines."""
    with console.capture() as captured:
        console.print(*shown, sep="\n")
    return captured.get().rstrip("\n").split("\n")


@lru_cache(maxsize=8)
def _documentation_lines(title: str, text: str, columns: int, no_color: bool | None) -> list[str]:
    """Return the documentation by lines; the screen is drawn several times for each save."""
    return lines_of(text_console(columns, no_color), documentation.panel(title, text))


def render(screen: WatchScreen, console: Console, room: int) -> list[str]:
    """Return all lines of the body, however many they are; `room` is how many fit."""
    if screen.view is not None:
        return lines_of(console, screen.view)
    # The check may be of another function; that of a broken file is of none.
    title = screen.check["function"] if screen.check and not broken_file(screen.check) else screen.focus
    text, no_color = "" if screen.passing else screen.documentation, console.no_color or None
    if not text:
        return _main_lines(screen, console, room)
    if console.width < WIDE:
        return [*_main_lines(screen, console, room), *_documentation_lines(title, text, console.width, no_color)]
    right = max(54, min(84, console.width * 2 // 5))
    left = console.width - right - GAP
    main = _main_lines(screen, text_console(left, no_color), room)
    beside = _documentation_lines(title, text, right, no_color)
    rows = zip_longest(main or [" " * left], beside)
    return [f"{' ' * left if one is None else one}{' ' * GAP}{other or ''}" for one, other in rows]


def _main_lines(screen: WatchScreen, console: Console, room: int) -> list[str]:
    """Return the hints, then what they are about: the report, what to write, or that it passes; in full width."""
    lines = _full_lines(console, _hints(screen, *screen.hint)) if screen.hint is not None else []
    if screen.check is not None:
        lines += _report(screen, screen.check, console, room - len(lines))
    elif screen.stub is not None:
        lines += _full_lines(console, _stub(screen, *screen.stub))
    elif screen.passing:
        lines += _full_lines(console, _passed(screen, console.width))
    return lines


def _full_lines(console: Console, *shown: RenderableType) -> list[str]:
    return lines_of(console, Padding(Group(*shown), 0, expand=True))


def _report(screen: WatchScreen, check: Document, console: Console, room: int) -> list[str]:
    """Return the panel of a check; without its map if the rest of it fits only then."""
    panel = partial(check_panel, check, width=console.width, commands=False, link=screen.link)
    full = _full_lines(console, panel())
    if not check["error_map"] or len(full) <= room:
        return full
    brief = _full_lines(console, panel(with_map=False), Text("  the map does not fit here; press p to show it alone"))
    return brief if len(brief) <= room else full


def _passed(screen: WatchScreen, columns: int) -> RenderableType:
    mark, style = STATUS_STYLES["passed"]
    lines = Text.assemble((f"{mark} {screen.focus} passes.", f"bold {style}"))
    if screen.printed:
        lines.append(f"\n\nIt still prints, when it is called:\n{shortened(screen.printed)}")
    if screen.next_function is None:
        lines.append("\n\nThe whole course passes: the GPT is all your own.")
    else:
        lines.append("\n\nPress n to go on to ").append(screen.next_function, "bold").append(".")
    if screen.finished is not None:
        return Group(Padding(lines, (0, 2)), finished_panel(screen.finished, columns))
    return Padding(lines, (1, 2))


def _stub(screen: WatchScreen, file: str, line: int, text: str) -> RenderableType:
    if not line:
        return Text(text)
    place = Text(f"{file}:{line}", f"bold link {screen.link(file, line)}" if screen.link else "bold")
    saving = ". Press e to open it; saving it starts the check."
    if file.endswith(".ipynb"):
        place, saving = Text(file, "bold"), ". Saving the notebook starts the check."
    return Padding(Text.assemble(f"{screen.focus} is not written yet. It is in ", place, saving), (0, 0, 1, 0))


def _hints(screen: WatchScreen, steps: Sequence[tuple[str, str]], total: int) -> RenderableType:
    after_last = f"no more hints{' · s shows the solution' if screen.offers_solution else ' for this function'}"
    more = "m shows one more" if len(steps) < total else after_last
    return Panel(
        hint_table(steps),
        title=Text(f" {screen.focus} · hint {len(steps)} of {total} "),
        title_align="left",
        subtitle=Text(f" {more} · h closes "),
        subtitle_align="right",
        border_style=styles.BLUE,
    )


def help_view(width: int) -> RenderableType:
    """Return a list of all keys with what they do, and of the marks of functions."""
    table = styles.grid("right", "fold")
    for key, (_, meaning) in (KEYS | LAST_KEYS).items():
        table.add_row(Text(key, "bold"), Text(meaning))
    table.add_row(Text(SCROLL_KEYS, "bold"), Text("scroll, where not everything fits"))
    legend = styles.grid("right", "fold")
    for status, (mark, style) in STATUS_STYLES.items():
        legend.add_row(Text(mark, style), Text(STATUS_WORDS[status]))
    return Group(Text("Keys\n", "bold"), Padding(table, (0, 2)), Text("\nMarks\n", "bold"), Padding(legend, (0, 2)))


def listing(screen: WatchScreen, console: Console, room: int) -> list[str]:
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

"""The screen of `headway watch`: progress, the current result and the keys, fitted to the terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import zip_longest
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from autograder.course import Curriculum, registry
from autograder.documents.reading import Document
from autograder.documents.records import FinishedAssignment
from autograder.report import styles, wording
from autograder.report.assignment_finished import finished_panel
from autograder.report.check_report import BAR_GLYPHS, STATUS_STYLES, check_panel
from autograder.report.console import text_console
from autograder.report.help_texts import documentation_panel, hint_table

# Each key with a short name, and what it does. A narrow terminal leaves out the last ones, but never help and quit.
KEYS = {
    "n": ("next", "go to the next function, once this one passes"),
    "h": ("hint", "show or hide the hints seen so far for this function"),
    "m": ("more hints", "show one more hint"),
    "b": ("broken", "go to a function that used to pass and now fails"),
    "s": ("solution", "show the solution, once your code passes or after the last hint"),
    "d": ("diff", "compare your code with the solution"),
    "l": ("list", "list all functions, to go to any of them"),
    "e": ("edit", "open your code in your editor, at the line in question"),
    "p": ("map", "show only the map of the wrong values"),
    "g": ("debug", "open the failed call in Python; Ctrl-D comes back"),
    "r": ("reset", "restore the stub of this function; a backup is kept"),
    "a": ("all", "check everything again"),
}
LAST_KEYS = {"?": ("help", "show this help"), "q": ("quit", "quit; Ctrl-C does the same")}
SCROLL_KEYS = "↑ ↓ PgUp PgDn Home End"

WIDE = 120  # columns from which the documentation is beside the failure
GAP = 1  # columns between them


@dataclass
class WatchScreen:
    """The content of the screen."""

    name: str  # of the workspace
    statuses: Mapping[str, str]  # latest known status by function
    points: tuple[float, float]  # earned and possible
    focus: str  # the current function, by its qualified name
    passing: bool = False  # whether its code passes as it is now
    printed: str = ""  # what it printed although it passes
    tally: str = ""  # how many of its checks pass, unless all do: " 3/5"
    checking: Sequence[str] = ()  # functions that are being checked now
    diagnosing: bool = False  # whether the mistake behind the result is still being looked for
    seconds: float | None = None  # time that the latest check took
    check: Document | None = None  # the failed check whose panel is shown
    # File and line of the current function while it is not written, and what to do if it is not defined (line 0).
    stub: tuple[str, int, str] | None = None
    finished: FinishedAssignment | None = None  # the assignment of the current function, if all of it passes
    documentation: str = ""  # first line and docstring of the function that is shown
    next_function: str | None = None  # the function that the key n goes to; None at the end of the course
    hint: tuple[Sequence[tuple[str, str]], int] | None = None  # kind and text of the hints shown, and number of all
    offers_solution: bool = False  # whether the key s shows the solution, or asks whether to
    cursor: str | None = None  # the selected function of the list; None while the list is not shown
    view: RenderableType | None = None  # shown in place of everything else, such as the solution
    keys: str = "".join(KEYS)  # those that do something now
    scroll: int = 0  # lines of the body above the screen
    message: str = ""  # one line above the keys
    notes: Sequence[str] = ()  # lines above the panel, such as badges
    link: Callable[[str, int], str] | None = None  # address of a line of a file, for terminals that can open it
    details: Mapping[str, str] = field(default_factory=dict)  # text beside each function of the list
    curriculum: Curriculum = field(default_factory=registry.default)


class Frame(NamedTuple):
    """A rendered screen. `scroll` is how far it is scrolled, at most to its end; `page` how many lines a page has."""

    lines: list[str]
    scroll: int
    page: int


def render_frame(screen: WatchScreen, columns: int, lines: int, *, no_color: bool | None = None) -> Frame:
    """Return at most `lines` lines of colored text, none wider than `columns`."""
    console = text_console(columns, no_color)
    header = _lines_of(console, _title(screen, columns), _course_bar(screen, columns), _assignment(screen, columns))
    notes = _lines_of(console, *(Text(note, "bold") for note in screen.notes)) if screen.notes else []
    message = [Text(screen.message, "bold")] if screen.message else []
    footer = _lines_of(console, *message, _keys(screen, columns))
    room = max(3, lines - len(header) - len(footer) - len(notes) - 2)
    if screen.cursor is not None:
        body, scroll = _listing(screen, console, room), 0
    else:
        body, scroll = _viewport(_body(screen, console, room), screen.scroll, room, console)
    body += [""] * (room - len(body))
    return Frame([*header, "", *notes, *body, "", *footer][:lines], scroll, max(1, room - 2))


def _viewport(body: list[str], scroll: int, room: int, console: Console) -> tuple[list[str], int]:
    """Return the lines that fit, the last of them about how many do not, and how far the body is scrolled."""
    if len(body) <= room:
        return body, 0
    shown = room - 1
    scroll = max(0, min(scroll, len(body) - shown))
    below = len(body) - shown - scroll
    counts = [f"↑ {scroll} above"] * bool(scroll) + [f"↓ {below} below"] * bool(below)
    about = Text(f"{' · '.join(counts)} · {SCROLL_KEYS}", styles.BLUE, no_wrap=True, overflow="ellipsis")
    return [*body[scroll : scroll + shown], *_lines_of(console, about)], scroll


def _title(screen: WatchScreen, columns: int) -> Text:
    title = Text.assemble(("Headway", "bold"), " · ", screen.name, " · ", (screen.focus, "bold"))
    state = Text()
    if screen.checking:
        state = Text(f"checking {_short_names(screen.checking)} …", f"bold {styles.BLUE}")
    elif screen.diagnosing:
        state = Text("looking for the mistake …", styles.BLUE)
    elif (seconds := screen.seconds) is not None:
        state = Text(f"checked in {seconds * 1e3:.0f} ms" if seconds < 2 else f"checked in {seconds:.1f} s", "dim")
    title.truncate(max(10, columns - len(state) - 2), overflow="ellipsis")
    return title.append(" " * max(2, columns - len(title) - len(state))).append_text(state)


def _short_names(functions: Sequence[str]) -> str:
    """Return what is being checked in a few words: a function, a module or a number of functions."""
    modules = {name.partition(".")[0] for name in functions}
    names = functions if len(functions) == 1 else modules
    return next(iter(names)) if len(names) == 1 else f"{len(functions)} functions"


def _course_bar(screen: WatchScreen, columns: int) -> Text:
    """Return a bar followed by the totals: one mark for each function, or each assignment in a narrow terminal."""
    earned, possible = screen.points
    passed = list(screen.statuses.values()).count("passed")
    totals = f"  {passed} of {len(screen.curriculum.functions)} functions"
    totals += f" · {wording.points_text({'earned': earned, 'possible': possible})} points" if possible else ""
    groups = [
        [screen.statuses.get(function.qualified, "not_started") for function in assignment.functions]
        for assignment in screen.curriculum.assignments
    ]
    marks = sum(map(len, groups))
    if marks + len(totals) > columns:
        groups, marks = [[_status_of_all(statuses)] for statuses in groups], len(groups)
    gap = " " if marks + len(groups) + len(totals) <= columns and marks > len(groups) else ""
    bar = Text(gap).join(
        Text.assemble(*((BAR_GLYPHS[status], STATUS_STYLES[status][1]) for status in statuses)) for statuses in groups
    )
    bar.append(totals)
    bar.truncate(columns, overflow="ellipsis")
    return bar


def _status_of_all(statuses: Sequence[str]) -> str:
    """Return one status for the functions of an assignment: one that is wrong, or "blocked" if it is only begun."""
    wrong = [status for status in statuses if status in wording.FAILED_STATUSES]
    return wrong[0] if wrong else statuses[0] if len(set(statuses)) == 1 else "blocked"


def _assignment(screen: WatchScreen, columns: int) -> Text:
    """Return the functions of the current assignment; no line breaks between a mark and its name."""
    assignment = screen.curriculum.modules[screen.focus.partition(".")[0]]
    text = Text().append(f"{assignment.number} {assignment.module}", "dim")
    width = len(text)
    for function in assignment.functions:
        mark, style = STATUS_STYLES[screen.statuses.get(function.qualified, "not_started")]
        focused = function.qualified == screen.focus
        name, tally = (function.name, "bold underline" if focused else style), screen.tally if focused else ""
        part = Text.assemble((mark, style), " ", name, tally)
        new_line = width + 2 + len(part) > columns
        text.append("\n" if new_line else "  ").append_text(part)
        width = len(part) if new_line else width + 2 + len(part)
    return text


def _keys(screen: WatchScreen, columns: int) -> Text:
    if screen.cursor is not None:
        return Text("↑ ↓ select · enter go to it · l back · q quit", "dim")
    if screen.view is not None:
        return Text(f"{SCROLL_KEYS} · esc back · q quit", "dim")
    names = {key: name for key, (name, _) in KEYS.items() if key in screen.keys}
    last = {key: name for key, (name, _) in LAST_KEYS.items()}
    while names and sum(len(key) + len(name) + 3 for key, name in {**names, **last}.items()) - 2 > columns:
        names.popitem()
    styled = (
        Text.assemble((key, "dim" if key == "n" and not screen.passing else "bold"), (f" {name}", "dim"))
        for key, name in {**names, **last}.items()
    )
    return Text("  ").join(styled)


def _lines_of(console: Console, *shown: RenderableType) -> list[str]:
    """Return what a console prints, by lines."""
    with console.capture() as captured:
        console.print(*shown, sep="\n")
    return captured.get().rstrip("\n").split("\n")


@lru_cache(maxsize=8)
def _documentation_lines(title: str, text: str, columns: int, no_color: bool | None) -> list[str]:
    """Return the documentation by lines; the screen is drawn several times for each save."""
    return _lines_of(text_console(columns, no_color), documentation_panel(title, text))


def _body(screen: WatchScreen, console: Console, room: int) -> list[str]:
    """Return all lines between the header and the keys, however many they are; `room` is how many fit."""
    if screen.view is not None:
        return _lines_of(console, screen.view)
    # The check may be of another function; that of a broken file is of none.
    title = screen.check["function"] if screen.check and not wording.broken_file(screen.check) else screen.focus
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
    return _lines_of(console, Padding(Group(*shown), 0, expand=True))


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
        lines.append(f"\n\nIt still prints, when it is called:\n{wording.shortened(screen.printed)}")
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
        legend.add_row(Text(mark, style), Text(wording.STATUS_WORDS[status]))
    return Group(Text("Keys\n", "bold"), Padding(table, (0, 2)), Text("\nMarks\n", "bold"), Padding(legend, (0, 2)))


def _listing(screen: WatchScreen, console: Console, room: int) -> list[str]:
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
    return [line for row in rows[first : first + room] for line in _lines_of(console, row)[:1]]

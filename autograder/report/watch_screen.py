"""The screen of `headway watch`: progress, the current result and the keys, fitted to the terminal."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from autograder.curriculum import Curriculum, registry
from autograder.report import styles
from autograder.report.assignment_finished import FinishedAssignment, finished_panel
from autograder.report.check_report import BAR_GLYPHS, STATUS_STYLES, check_panel
from autograder.report.hints import hint_table

KEYS = dict(
    zip("nhmplaerq", ("next", "hint", "more hints", "map", "list", "all", "edit", "reset", "quit"), strict=True)
)


@dataclass
class WatchScreen:
    """The content of the screen."""

    name: str  # of the workspace
    statuses: Mapping[str, str]  # latest known status by function
    points: tuple[float, float]  # earned and possible
    focus: str  # the current function, by its qualified name
    passing: bool = False  # whether its code passes as it is now
    tally: str = ""  # how many of its checks pass, unless all do: " 3/5"
    checking: Sequence[str] = ()  # functions that are being checked now
    seconds: float | None = None  # time that the latest check took
    check: dict[str, Any] | None = None  # the failed check whose panel is shown
    # File, line and first lines of the current function while it is not written. Line 0 means that the file does not
    # define it; the text then says what to do.
    stub: tuple[str, int, str] | None = None
    finished: FinishedAssignment | None = None  # the assignment of the current function, if all of it passes
    next_function: str | None = None  # the function that the key n goes to; None at the end of the course
    hint: tuple[Sequence[tuple[str, str]], int] | None = None  # kind and text of the hints shown, and number of all
    cursor: str | None = None  # the selected function of the list; None while the list is not shown
    message: str = ""  # one line above the keys
    notes: Sequence[str] = ()  # lines above the panel, such as badges
    link: Callable[[str, int], str] | None = None  # address of a line of a file, for terminals that can open it
    details: Mapping[str, str] = field(default_factory=dict)  # text beside each function of the list
    curriculum: Curriculum = field(default_factory=registry.default)


def render_frame(screen: WatchScreen, columns: int, lines: int, *, no_color: bool | None = None) -> list[str]:
    """Return at most `lines` lines of coloured text, none wider than `columns`."""
    console = Console(
        file=io.StringIO(), force_terminal=True, width=columns, no_color=no_color, highlight=False, legacy_windows=False
    )
    header = _lines(console, _title(screen, columns), _course_bar(screen, columns), _assignment(screen, columns))
    notes = _lines(console, *(Text(note, "bold") for note in screen.notes)) if screen.notes else []
    footer = _lines(console, *([Text(screen.message, "bold")] if screen.message else []), _keys(screen))
    room = max(3, lines - len(header) - len(footer) - len(notes) - 2)
    body = _body(screen, console, room)
    body += [""] * (room - len(body))
    return [*header, "", *notes, *body, "", *footer][:lines]


def _lines(console: Console, *shown: RenderableType) -> list[str]:
    with console.capture() as captured:
        console.print(*shown, sep="\n")
    return captured.get().rstrip("\n").split("\n")


def _title(screen: WatchScreen, columns: int) -> Text:
    title = Text.assemble(("Headway", "bold"), " · ", screen.name, " · ", (screen.focus, "bold"))
    state = Text()
    if screen.checking:
        state = Text(f"checking {_short_names(screen.checking)} …", f"bold {styles.BLUE}")
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
    """Return a bar with one mark for each function of the course, followed by the totals."""
    bar = Text()
    for number, assignment in enumerate(screen.curriculum.assignments):
        if number and columns >= 110:
            bar.append(" ")
        for function in assignment.functions:
            status = screen.statuses.get(function.qualified, "not_started")
            bar.append(BAR_GLYPHS[status], STATUS_STYLES[status][1])
    earned, possible = screen.points
    count = f"  {list(screen.statuses.values()).count('passed')} of {len(screen.curriculum.functions)}"
    points = f" functions · {earned:g} / {possible:g} points" if possible else " functions"
    fits = len(bar) + len(count) + len(points) <= columns
    bar.truncate(max(8, columns - len(count)))
    return bar.append(count).append(points if fits else "")


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


def _keys(screen: WatchScreen) -> Text:
    if screen.cursor is not None:
        return Text("↑ ↓ select · enter go to it · l back · q quit", "dim")
    styled = ((key, "dim" if key == "n" and not screen.passing else "bold", name) for key, name in KEYS.items())
    return Text("  ").join(Text.assemble((key, style), (f" {name}", "dim")) for key, style, name in styled)


def _body(screen: WatchScreen, console: Console, room: int) -> list[str]:
    if screen.cursor is not None:
        return _listing(screen, console, room)
    if screen.hint is not None:
        return _cropped(_lines(console, _hints(screen, *screen.hint)), room)
    if screen.check is not None:
        return _panel(screen, screen.check, console, room)
    if screen.stub is not None:
        return _cropped(_lines(console, _stub(screen, *screen.stub)), room, border=False)
    if screen.passing:
        return _cropped(_lines(console, _passed(screen, console.width)), room)
    return []


def _panel(screen: WatchScreen, check: dict[str, Any], console: Console, room: int) -> list[str]:
    shown = _lines(console, check_panel(check, commands=False, link=screen.link))
    if len(shown) > room and check["error_map"]:
        brief = _lines(console, check_panel(check, commands=False, with_map=False, link=screen.link))
        note = _lines(console, Text("  the map does not fit here; press p to show it alone"))
        shown = [*brief, *note] if len(brief) + len(note) <= room else brief
    return _cropped(shown, room)


def _cropped(lines: list[str], room: int, border: bool = True) -> list[str]:
    """Return at most `room` lines; of a panel the last line, its border, is kept."""
    if len(lines) <= room:
        return lines
    return [*lines[: room - 1 - border], f"… {len(lines) - room + 1} more lines", *lines[-1:] * border]


def _passed(screen: WatchScreen, columns: int) -> RenderableType:
    mark, style = STATUS_STYLES["passed"]
    lines = Text.assemble((f"{mark} {screen.focus} passes.", f"bold {style}"))
    if screen.next_function is None:
        lines.append("\n\nThe whole course passes: the GPT is all your own. Next: headway train, then headway generate")
    else:
        lines.append("\n\nPress n to go on to ").append(screen.next_function, "bold").append(".")
    if screen.finished is not None:
        return Group(Padding(lines, (0, 2)), finished_panel(screen.finished, columns))
    return Padding(lines, (1, 2))


def _stub(screen: WatchScreen, file: str, line: int, text: str) -> RenderableType:
    if not line:
        return Text(text)
    place = Text(f"{file}:{line}", f"bold link {screen.link(file, line)}" if screen.link else "bold")
    if file.endswith(".ipynb"):
        place, saving = Text(file, "bold"), ". Saving the notebook starts the check."
    else:
        saving = ". Press e to open it; saving it starts the check."
    before, after = f"{screen.focus} is not written yet. It is in ", saving
    # Where a line wraps, the rest keeps its indentation.
    lines = [(part.lstrip(), len(part) - len(part.lstrip())) for part in text.rstrip().split("\n")]
    body = [Padding(Text(part, "dim"), (0, 0, 0, indentation)) for part, indentation in lines]
    return Group(Text.assemble(before, place, after), Text(), *body)


def _hints(screen: WatchScreen, steps: Sequence[tuple[str, str]], total: int) -> RenderableType:
    more = "m shows one more" if len(steps) < total else "no more hints for this function"
    return Panel(
        hint_table(steps),
        title=Text(f" {screen.focus} · hint {len(steps)} of {total} "),
        title_align="left",
        subtitle=Text(f" {more} · h closes "),
        subtitle_align="right",
        border_style=styles.BLUE,
    )


def _listing(screen: WatchScreen, console: Console, room: int) -> list[str]:
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
    return [line for row in rows[first : first + room] for line in _lines(console, row)[:1]]

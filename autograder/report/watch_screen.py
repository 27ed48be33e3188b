"""The screen of `headway watch`: where one stands, the verdict in hand, and the keys, fitted to the terminal."""

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
from autograder.report.check_report import STATUS_STYLES, check_panel
from autograder.report.hints import table_of

GLYPHS = {"passed": "█", "failed": "▓", "error": "▓", "timeout": "▓", "blocked": "▒"}
KEYS = (
    ("n", "next"),
    ("h", "hint"),
    ("m", "more hints"),
    ("p", "picture"),
    ("l", "list"),
    ("a", "all"),
    ("e", "edit"),
    ("r", "reset"),
    ("q", "quit"),
)


@dataclass
class WatchScreen:
    """What there is to show.

    Attributes:
        statuses: the latest known of every function.
        focus: the function in hand.
        passing: whether it passes, as it is now.
        tally: how many of its checks pass, if some do not: " 3/5".
        checking: functions that are being checked now.
        check: the record of the check whose check_panel is shown; None if none is wrong.
        stub: file, line and first lines of the function in hand while it is not written; line 0 if there is no such
            function, and then what to do.
        hint: the hints shown, and how many there are.
        cursor: the function under the cursor of the list; None while the list is not shown.
        message: one line above the keys.
        notes: further lines above the check_panel, such as badges.
    """

    name: str
    statuses: Mapping[str, str]
    points: tuple[float, float]
    focus: str
    passing: bool = False
    tally: str = ""
    checking: Sequence[str] = ()
    seconds: float | None = None
    check: dict[str, Any] | None = None
    stub: tuple[str, int, str] | None = None
    next_function: str | None = None
    hint: tuple[Sequence[tuple[str, str]], int] | None = None
    cursor: str | None = None
    picture: bool = True
    message: str = ""
    notes: Sequence[str] = ()
    link: Callable[[str, int], str] | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    curriculum: Curriculum = field(default_factory=registry.default)


def render_frame(view: WatchScreen, columns: int, lines: int, *, no_color: bool | None = None) -> list[str]:
    """The whole screen as `lines` lines of text with colours, none wider than `columns`."""
    console = Console(
        file=io.StringIO(), force_terminal=True, width=columns, no_color=no_color, highlight=False, legacy_windows=False
    )
    head = _lines(console, Group(_title(view, columns), _course(view, columns), _assignment(view, columns)))
    foot = _lines(console, Group(Text(view.message, "bold"), _keys(view)) if view.message else _keys(view))
    notes = _lines(console, Group(*(Text(note, "bold") for note in view.notes))) if view.notes else []
    room = max(3, lines - len(head) - len(foot) - len(notes) - 2)
    body = _body(view, console, room)
    body += [""] * (room - len(body))
    return [*head, "", *notes, *body, "", *foot][:lines]


def _lines(console: Console, shown: RenderableType) -> list[str]:
    with console.capture() as captured:
        console.print(shown)
    return captured.get().rstrip("\n").split("\n")


def _title(view: WatchScreen, columns: int) -> Text:
    title = Text.assemble(("Headway", "bold"), " · ", view.name, " · ", (view.focus, "bold"))
    if view.checking:
        state = Text(f"checking {_briefly(view.checking)} …", f"bold {styles.BLUE}")
    else:
        state = Text(f"checked in {_duration(view.seconds)}" if view.seconds is not None else "", "dim")
    title.truncate(max(10, columns - len(state) - 2), overflow="ellipsis")
    return title.append(" " * max(2, columns - len(title) - len(state))).append_text(state)


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds < 2 else f"{seconds:.1f} s"


def _briefly(functions: Sequence[str]) -> str:
    """What is checked, in a few words: a function, several of one module, or everything."""
    if len(functions) == 1:
        return functions[0]
    modules = list(dict.fromkeys(name.partition(".")[0] for name in functions))
    return modules[0] if len(modules) == 1 else f"{len(functions)} functions"


def _course(view: WatchScreen, columns: int) -> Text:
    """One mark for each function of the course, in its order, then the sums."""
    bar = Text()
    for number, assignment in enumerate(view.curriculum.assignments):
        if number and columns >= 110:
            bar.append(" ")
        for function in assignment.functions:
            status = view.statuses.get(function.qualified, "not_started")
            bar.append(GLYPHS.get(status, "░"), STATUS_STYLES[status][1])
    done = sum(status == "passed" for status in view.statuses.values())
    earned, possible = view.points
    sums = f"  {done} of {len(view.curriculum.functions)}"
    points = f" functions · {earned:g} / {possible:g} points" if possible else " functions"
    fits = len(bar) + len(sums) + len(points) <= columns
    if len(bar) + len(sums) > columns:
        bar.truncate(max(8, columns - len(sums)))
    return bar.append(sums).append(points if fits else "")


def _assignment(view: WatchScreen, columns: int) -> Text:
    """The functions of the assignment in hand; a mark stays with its name at the end of a line."""
    assignment = view.curriculum.modules[view.focus.partition(".")[0]]
    text = Text().append(f"{assignment.number} {assignment.module}", "dim")
    width = len(text)
    for function in assignment.functions:
        mark, style = STATUS_STYLES[view.statuses.get(function.qualified, "not_started")]
        part = Text.assemble((mark, style), " ", (function.name, style))
        if function.qualified == view.focus:
            part = Text.assemble((mark, style), " ", (function.name, "bold underline"), view.tally)
        new_line = width + 2 + len(part) > columns
        text.append("\n" if new_line else "  ").append_text(part)
        width = len(part) if new_line else width + 2 + len(part)
    return text


def _keys(view: WatchScreen) -> Text:
    if view.cursor is not None:
        return Text("↑ ↓ choose · enter goes there · l back · q quit", "dim")
    text = Text()
    for key, name in KEYS:
        lit = key != "n" or view.passing
        text.append("  " if text else "", "dim").append(key, "bold" if lit else "dim").append(f" {name}", "dim")
    return text


def _body(view: WatchScreen, console: Console, room: int) -> list[str]:
    if view.cursor is not None:
        return _listing(view, console, room)
    if view.hint is not None:
        return _cropped(_lines(console, _hints(view)), room)
    if view.check is not None:
        return _panel(view, view.check, console, room)
    if view.stub is not None:
        return _cropped(_lines(console, _stub(view)), room, border=False)
    if view.passing:
        return _cropped(_lines(console, _right(view)), room)
    return []


def _panel(view: WatchScreen, check: dict[str, Any], console: Console, room: int) -> list[str]:
    shown = _lines(console, check_panel(check, commands=False, with_picture=view.picture, link=view.link))
    if len(shown) > room and check["picture"] and view.picture:
        brief = _lines(console, check_panel(check, commands=False, with_picture=False, link=view.link))
        shown = [*brief, *_lines(console, Text("  the picture needs more lines than there are: p shows it alone"))]
        shown = shown if len(shown) <= room else brief
    return _cropped(shown, room)


def _cropped(lines: list[str], room: int, border: bool = True) -> list[str]:
    """At most `room` lines; the last one stays, if it is the border."""
    if len(lines) <= room:
        return lines
    if not border:
        return [*lines[: room - 1], f"… {len(lines) - room + 1} lines more"]
    return [*lines[: room - 2], f"… {len(lines) - room + 1} lines more", lines[-1]]


def _right(view: WatchScreen) -> RenderableType:
    mark, style = STATUS_STYLES["passed"]
    lines = Text.assemble((f"{mark} {view.focus} is right.", f"bold {style}"))
    if view.next_function is None:
        lines.append("\n\nThe whole course is right: the GPT is yours. headway train, then headway generate.")
    else:
        lines.append("\n\nn takes you to ").append(view.next_function, "bold").append(". It waits until you press it.")
    return Padding(lines, (1, 2))


def _stub(view: WatchScreen) -> RenderableType:
    assert view.stub is not None
    file, line, text = view.stub
    if not line:  # there is none
        return Text(text)
    place = Text(f"{file}:{line}", "bold")
    if view.link is not None:
        place.stylize(f"link {view.link(file, line)}")
    head = Text.assemble(f"{view.focus} is not written yet. It is in ", place, ": e opens it; save, and see.")
    lines = text.rstrip().split("\n")
    return Group(head, Text(), *(Padding(Text(line.lstrip(), "dim"), (0, 0, 0, _indent(line))) for line in lines))


def _indent(line: str) -> int:
    """How far a line is indented; its continuation, where the terminal is too narrow for it, is as far."""
    return len(line) - len(line.lstrip())


def _hints(view: WatchScreen) -> RenderableType:
    assert view.hint is not None
    steps, total = view.hint
    more = "m shows one more" if len(steps) < total else "there are no more hints for this one"
    return Panel(
        table_of(steps),
        title=Text(f" {view.focus} · hint {len(steps)} of {total} "),
        title_align="left",
        subtitle=Text(f" {more} · h closes "),
        subtitle_align="right",
        border_style=styles.BLUE,
    )


def _listing(view: WatchScreen, console: Console, room: int) -> list[str]:
    rows: list[Text] = []
    at = 0
    for assignment in view.curriculum.assignments:
        rows.append(Text(f"{assignment.number:>2} {assignment.module} · {assignment.title}", "bold"))
        for function in assignment.functions:
            name = function.qualified
            mark, style = STATUS_STYLES[view.statuses.get(name, "not_started")]
            here = name == view.cursor
            at = len(rows) if here else at
            row = Text.assemble(
                "▶ " if here else "  ", (f" {mark} ", style), (function.name, "reverse" if here else "")
            )
            row.append(f"  {view.details.get(name, '')}", "dim").append("  (bonus)" if function.bonus else "", "dim")
            rows.append(row)
    first = max(0, min(at - room // 2, len(rows) - room))
    return [line for row in rows[first : first + room] for line in _lines(console, row)[:1]]

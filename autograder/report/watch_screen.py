"""The screen of `headway watch`: progress, the current result and the keys, fitted to the terminal."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from autograder.report import styles, watch_body, wording
from autograder.report.check_report import BAR_GLYPHS, STATUS_STYLES
from autograder.report.console import text_console
from autograder.report.watch_body import lines_of
from autograder.report.watch_state import KEYS, LAST_KEYS, SCROLL_KEYS, WatchScreen


class Frame(NamedTuple):
    """A rendered screen. `scroll` is how far it is scrolled, at most to its end; `page` how many lines a page has."""

    lines: list[str]
    scroll: int
    page: int


def render_frame(screen: WatchScreen, columns: int, lines: int, *, no_color: bool | None = None) -> Frame:
    """Return at most `lines` lines of colored text, none wider than `columns`."""
    console = text_console(columns, no_color)
    header = lines_of(console, _title(screen, columns), _course_bar(screen, columns), _assignment(screen, columns))
    notes = lines_of(console, *(Text(note, "bold") for note in screen.notes)) if screen.notes else []
    message = [Text(screen.message, "bold")] if screen.message else []
    footer = lines_of(console, *message, _keys(screen, columns))
    room = max(3, lines - len(header) - len(footer) - len(notes) - 2)
    if screen.cursor is not None:
        body, scroll = watch_body.listing(screen, console, room), 0
    else:
        body, scroll = _viewport(watch_body.render(screen, console, room), screen.scroll, room, console)
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
    return [*body[scroll : scroll + shown], *lines_of(console, about)], scroll


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
    wrong = [status for status in statuses if status in ("failed", "error", "timeout")]
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

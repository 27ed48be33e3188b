"""`headway watch` in a terminal: a screen that follows every save and key. `watch_plain.py` is the other form."""

import contextlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from autograder.core.current_folder import python_command
from autograder.core.text import clean_name
from autograder.documents.reading import Document
from autograder.errors import UsageError
from autograder.report import diff, watch_screen, wording
from autograder.workspace import editor, files, hints, solutions
from autograder.workspace.background_checker import CheckReply
from autograder.workspace.file_watcher import REREAD, SAVED
from autograder.workspace.finished import finished_assignment
from autograder.workspace.function_source import without_docstring
from autograder.workspace.session import WatchSession, watched
from autograder.workspace.terminal import EventQueue, InteractiveTerminal
from autograder.workspace.watch_plain import print_progress
from autograder.workspace.workspace import Workspace

SWITCH_SECONDS = 0.001  # for which the thread that looks for mistakes may hold up a save or a key
QUIET = 0.1  # seconds for which the screen stays as it is after a save: most checks have ended then
PATIENCE = 0.7  # seconds after which a long check is explained
# The line at the top of the body after a key, given the one before it and the number of lines on a page.
SCROLL: dict[str, Callable[[int, int], int]] = {
    "up": lambda line, page: line - 1,
    "down": lambda line, page: line + 1,
    "page up": lambda line, page: line - page,
    "page down": lambda line, page: line + page,
    " ": lambda line, page: line + page,
    "home": lambda line, page: 0,
    "end": lambda line, page: 1 << 20,
}
SLOW_CHECK = "still running; a call that takes too long is stopped. Is there an endless loop?"


class WatchLoop:
    """The interactive loop: redraws the screen after every event, and gives each key its meaning."""

    def __init__(self, session: WatchSession, terminal: InteractiveTerminal, no_color: bool) -> None:
        self._session = session
        self._workspace = session.workspace
        self._terminal = terminal
        self._no_color = no_color
        self._seconds: float | None = None
        self._shows_hint = self._shows_only_map = False
        self._cursor: str | None = None
        self._view: Callable[[int], RenderableType] | None = None  # for a width; replaces everything else
        self._scroll, self._page = 0, 1
        self._question: Callable[[], None] | None = None  # what to do if the answer is y
        self._message = ""
        self._reset_message = ""  # kept while the save that a reset makes is checked
        self.is_slow = False
        self._is_quiet = False  # whether a check has just begun, which the screen does not show yet
        self._notes: list[str] = []
        self._documentation = cache(partial(editor.documentation, self._workspace))
        self.done = False

    def handle(self, event: Any) -> None:
        """Handle a save, a key, a reply or a resize, and redraw the screen."""
        if event in (SAVED, REREAD):
            self._check_changes(is_save=event is SAVED)
        elif isinstance(event, CheckReply):
            self._receive(event)
        else:
            self._is_quiet = False
            if isinstance(event, str):
                self._message = ""
                try:
                    self._press(event)
                except UsageError as error:
                    self._message = str(error)
        if not self._is_quiet:
            self.draw()

    @property
    def patience(self) -> float | None:
        """After how many seconds without an event to show or to explain a check; None if there is nothing to say."""
        if self._is_quiet:
            return QUIET
        modules = {name.partition(".")[0] for name in self._session.checking}
        return PATIENCE if len(modules) == 1 and not self.is_slow else None

    def run_out_of_patience(self) -> None:
        """Show that a check is running, or else explain that it is slow."""
        self.is_slow = not self._is_quiet
        self.handle(None)

    def _check_changes(self, *, is_save: bool) -> None:
        before = self._workspace.snapshot
        if self._session.check_changes(is_save=is_save):
            if self._session.checking:
                self._close()
                self._notes, self._message, self._question = [], self._reset_message, None
                self._reset_message, self.is_slow = "", False
                self._is_quiet = True
            elif self._workspace.snapshot is not before:
                self._message = "saved; no code was changed"

    def _receive(self, reply: CheckReply) -> None:
        if self._session.receive(reply):
            self.is_slow = self._is_quiet = False
            self._seconds = reply.result.seconds if reply.result is not None else None
            self._shows_only_map, self._scroll = False, 0
        self._notes += self._session.badge_lines
        self._session.badge_lines.clear()
        if self._session.internal_errors:
            self._message = f"internal error (please report it): {self._session.internal_errors[0][:200]}"

    def _press(self, key: str) -> None:
        if confirmed := self._question:
            self._question = None
            if key == "y":
                confirmed()
            else:
                self._message = "nothing was changed"
        elif key in SCROLL and self._cursor is None:
            self._scroll = max(0, SCROLL[key](self._scroll, self._page))
        elif self._cursor is not None and key in ("up", "down", "k", "j", "enter", "l", "escape"):
            self._move_in_list(key)
        elif self._view is not None and key not in "q?":
            self._close()
        else:
            action: Callable[[], None] | None = {
                "n": self._go_to_next,
                "h": lambda: self._show_hint(0),
                "m": lambda: self._show_hint(1),
                "p": self._toggle_map,
                "l": self._toggle_list,
                "a": self._session.check_all,
                "b": self._go_to_broken,
                "s": lambda: self._show_if_allowed(_solution_view),
                "d": lambda: self._show_if_allowed(_diff_view),
                "e": self._edit,
                "g": self._debug,
                "r": self._ask_to_reset,
                "?": lambda: self._open(None if self._view is watch_screen.help_view else watch_screen.help_view),
                "q": self._quit,
                "escape": self._close,
            }.get(key)
            if action is None:
                self._message = f"the key {key!r} does nothing" if key.isprintable() else ""
            else:
                action()

    def _go_to_next(self) -> None:
        focus = self._session.focus
        if self._session.checking:
            self._message = "still checking"
        elif not self._session.is_passing:
            self._message = f"{focus} does not pass yet. h shows a hint, l lists all functions"
        elif (name := self._session.next_function()) is None:
            self._message = "every function passes: this was the last one"
        else:
            self._go_to(name)

    def _go_to_broken(self) -> None:
        if broken := self._broken:
            self._go_to(broken[0])
        else:
            self._message = "no other function that used to pass now fails"

    def _go_to(self, function: str) -> None:
        self._close()
        self._notes = []
        self._session.go_to(function)

    @property
    def _broken(self) -> list[str]:
        """The other functions that used to pass and now fail.

        Left out are those that are being checked, and those in unreadable files, which are reported once.
        """
        session, is_readable = self._session, self._workspace.snapshot.is_readable
        others = self._workspace.statuses.keys() - {session.focus}
        return [name for name in session.broken if name in others and is_readable(name.partition(".")[0])]

    def _close(self) -> None:
        self._shows_hint, self._cursor, self._shows_only_map = False, None, False
        self._view, self._scroll = None, 0

    @property
    def _passes(self) -> bool:
        return self._workspace.statuses.get(self._session.focus) == "passed"

    def _show_if_allowed(self, draw: Callable[[Workspace, str, int], RenderableType], *, give_up: bool = False) -> None:
        """Show what contains the solution: at once, or after a question, or say why it may not be shown."""
        focus, passes = self._session.focus, self._passes
        view = partial(draw, self._workspace, focus)
        view(80)  # raises UsageError where the student's file cannot be read
        try:
            solutions.require_solutions_allowed(self._workspace, [focus], [focus] if passes else [], give_up=give_up)
        except solutions.SolutionRefused as refused:
            if refused.rule != "give-up":
                self._message = str(refused)
            elif not solutions.offers_solution(self._workspace, focus, passes):
                self._message = "the solution can be shown after the last hint: h shows the first, m one more"
            else:
                self._message = f"{focus} does not pass yet. Show its solution? This is recorded. y / n"
                self._question = lambda: self._show_if_allowed(draw, give_up=True)
            return
        self._open(view)

    def _open(self, view: Callable[[int], RenderableType] | None) -> None:
        self._close()
        self._view = view

    def _show_hint(self, more: int) -> None:
        """Show the hints seen so far and `more` further ones; hide the hint if it is shown and no more are wanted."""
        if self._shows_hint and not more:
            self._shows_hint = False
            return
        focus = self._session.focus
        if not hints.steps(focus, self._session.curriculum.package):
            self._message = f"there are no hints for {focus}"
            return
        state = self._workspace.state
        state.refresh()
        hints.show_more(state, focus, more if hints.shown_count(state, focus) else 0)
        self._shows_hint, self._cursor, self._scroll = True, None, 0

    def _toggle_map(self) -> None:
        check = self._session.most_telling_check(self._session.focus)
        if check is None or not check["error_map"]:
            self._message = "there is no map to show: it marks the wrong elements of an array"
        else:
            self._shows_only_map, self._scroll = not self._shows_only_map, 0

    def _toggle_list(self) -> None:
        self._cursor = None if self._cursor else self._session.focus
        self._shows_hint = False

    def _move_in_list(self, key: str) -> None:
        names = list(self._session.curriculum.functions)
        assert self._cursor is not None
        if key in ("l", "escape"):
            self._cursor = None
        elif key == "enter":
            self._go_to(self._cursor)
        else:
            step = 1 if key in ("down", "j") else -1
            self._cursor = names[(names.index(self._cursor) + step) % len(names)]

    def _edit(self) -> None:
        module, _, name = self._session.focus.partition(".")
        check = self._session.most_telling_check(self._session.focus)
        location = check["location"] if check else None
        if module in self._workspace.notebook_modules:
            where = wording.location_text(location) if location else self._workspace.file_of(module)
            self._message = f"{self._session.focus} is in a notebook: {where}. Edit it where you have the notebook open"
            return
        function = editor.functions_of(self._workspace, module).get(name)
        file = self._workspace.folder / (location["file"] if location else f"{module}.py")
        line = location["line"] if location else function.lineno if function else 1
        self._message = editor.open_in_editor(file, line, self._terminal)

    def _debug(self) -> None:
        command = python_command("-m", "autograder.cli", "debug", self._session.focus)
        with self._terminal.suspended():
            if subprocess.run(command, cwd=self._workspace.folder, check=False).returncode == 2:
                self._message = f"no call to open in Python. To see why: headway debug {self._session.focus}"

    def _ask_to_reset(self) -> None:
        function = self._session.focus
        self._message = f"Reset {function} to its stub? A backup goes to {files.BACKUPS}/. y / n"
        self._question = lambda: self._reset(function)

    def _reset(self, function: str) -> None:
        backup, hint = self._workspace.reset(function)
        self._message = self._reset_message = f"{function} was reset (backup: {backup}).{hint}"

    def _quit(self) -> None:
        self.done = True

    def draw(self) -> None:
        """Redraw the screen."""
        columns, lines = self._terminal.size()
        screen = self._screen(columns)
        frame = watch_screen.render_frame(screen, columns, lines, no_color=self._no_color)
        self._scroll, self._page = frame.scroll, frame.page
        self._terminal.show(frame.lines)

    def _check_to_show(self, broken: list[str]) -> Document | None:
        """Return the check whose panel to show: one of the current function, or else of one that has broken."""
        session = self._session
        focus, checking = session.focus, session.checking
        check = session.most_telling_check(focus) if self._workspace.statuses.get(focus) != "passed" else None
        if check is None and broken and not checking:
            check = session.most_telling_check(broken[0])
            return check if check and check["status"] != "not_started" else None  # a note reports a reset function
        if check and check["status"] == "not_started" and checking and not self._workspace.snapshot.is_stub(focus):
            return None  # the record is of the code before this save
        return check

    def _keys(self, check: Document | None, broken: list[str], offers_solution: bool) -> str:
        """Return the keys that do something now."""
        does_something = {
            "m": self._shows_hint and not offers_solution,
            "b": bool(broken),
            "s": offers_solution,
            "d": self._passes,
            "p": bool(check and check["error_map"]),
            "g": bool(check and check["status"] in wording.FAILED_STATUSES and not wording.broken_file(check)),
        }
        return "".join(key for key in watch_screen.KEYS if does_something.get(key, True))

    def _screen(self, columns: int) -> watch_screen.WatchScreen:
        session = self._session
        focus, statuses = session.focus, self._workspace.statuses
        broken = self._broken
        check = self._check_to_show(broken)
        stub = editor.locate_stub(self._workspace, focus) if check and check["status"] == "not_started" else None
        documented = check["function"] if check and not wording.broken_file(check) else focus
        is_missing = stub is not None and not stub[1]
        offers_solution = solutions.offers_solution(self._workspace, focus, self._passes)
        if self._shows_only_map and check and check["error_map"]:
            check = {**check, "inputs": None, "help": None, "warnings": [], "output": "", "location": None,
                     "called_from": None, "mistake": None, "first_wrong_stage": None}  # fmt: skip
        shown, steps = None, hints.steps(focus, session.curriculum.package) if self._shows_hint else ()
        if steps:
            count = hints.shown_count(self._workspace.state, focus)
            shown = (list(zip(hints.KINDS, steps, strict=True))[:count], len(hints.KINDS))
        state_notes = self._workspace.state.notes
        regressions = [f"! {name} used to pass and now fails" for name in broken[:2]]
        return watch_screen.WatchScreen(
            name=clean_name(self._workspace.folder.name),
            statuses={name: entry.status for name, entry in self._workspace.progress.items()},
            points=session.points(),
            focus=focus,
            passing=session.is_passing,
            printed=session.printed(focus),
            tally=session.passed_checks_text(),
            checking=session.checking,
            diagnosing=session.diagnosing == focus,
            seconds=self._seconds,
            check=None if stub else check,
            stub=stub,
            finished=finished_assignment(self._workspace, focus.partition(".")[0], statuses) if not check else None,
            documentation="" if is_missing else self._documentation(documented),
            next_function=session.next_function() if statuses.get(focus) == "passed" else None,
            hint=shown,
            offers_solution=offers_solution,
            cursor=self._cursor,
            view=self._view(columns) if self._view else None,
            keys=self._keys(check, broken, offers_solution),
            scroll=self._scroll,
            message=self._message or (SLOW_CHECK if self.is_slow else state_notes[0] if state_notes else ""),
            notes=[*self._notes, *session.source_notes(), *regressions],
            link=partial(editor.link, self._workspace.folder),
            details=session.details() if self._cursor else {},
            curriculum=session.curriculum,
        )


def _solution_view(workspace: Workspace, function: str, width: int) -> RenderableType:
    from rich.syntax import Syntax

    # The documentation is on the screen before this one.
    code = without_docstring(solutions.solution_of(function, workspace.curriculum), function.partition(".")[2])
    highlighted = Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)
    return Group(Text.assemble((function, "bold"), " · the solution\n"), highlighted)


def _diff_view(workspace: Workspace, function: str, width: int) -> RenderableType:
    mine, theirs = solutions.student_and_solution(workspace, function)
    return diff.comparison(function, list(solutions.compare_lines(mine, theirs)), width, folded=True)


def run(folder: Path, *, poll: bool, console: Console) -> None:
    """Watch a workspace in a terminal until q or Ctrl-C."""
    sys.setswitchinterval(SWITCH_SECONDS)
    events = EventQueue()
    with watched(folder, events.put, poll=poll) as session, InteractiveTerminal(events) as terminal:
        loop = WatchLoop(session, terminal, console.no_color)
        session.begin()
        loop.draw()
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C also quits
            while not loop.done:
                event = events.next_event(terminal, loop.patience)
                if event is None:
                    loop.run_out_of_patience()
                else:
                    loop.handle(event)
    print_progress(session, console)


def can_be_interactive() -> bool:
    """Return whether standard input and output are a terminal from which single keys can be read."""
    can_read_keys = importlib.util.find_spec("termios") is not None
    return can_read_keys and os.isatty(0) and os.isatty(1) and os.environ.get("TERM") != "dumb"

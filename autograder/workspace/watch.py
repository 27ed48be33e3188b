"""`headway watch`: save, and know. The interactive form; `lines.py` is the other."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.errors import UsageError
from autograder.report import watch_screen as view
from autograder.sandbox import Limits
from autograder.workspace import editor, files, hints, state
from autograder.workspace.background_checker import Answer
from autograder.workspace.file_watcher import Saves
from autograder.workspace.session import Live, details, first_wrong, settled, tally, totals, watched
from autograder.workspace.terminal import RESIZED, Events, Keyboard
from autograder.workspace.timings import Timings
from autograder.workspace.watch_plain import print_parting

SAVED = object()
PATIENCE = 1.5
LONG = f"still running: after {Limits().call_seconds:g} s a call is stopped. A loop that never ends?"


class Watch:
    """The interactive loop: the screen follows what happens; every key has one meaning."""

    def __init__(self, folder: Path, live: Live, keys: Keyboard, no_color: bool) -> None:
        self._folder = folder
        self._live = live
        self._keys = keys
        self._no_color = no_color or None
        self._saved_at: float | None = time.perf_counter()
        self._seconds: float | None = None
        self._hint = self._alone = False
        self._cursor: str | None = None
        self._asking: str | None = None
        self._message = ""
        self._of_reset = ""  # outlives the check of the save that a reset is
        self._long = False  # the check under way takes long
        self._notes: list[str] = []
        self._timings = Timings()
        self.done = False

    def handle(self, event: Any) -> None:
        """One event: a save, a key, an answer, a resize; then the screen is drawn anew."""
        if event is SAVED:
            self._look()
        elif isinstance(event, Answer):
            self._answer(event)
        elif isinstance(event, str):
            self._message = ""
            self._press(event)
        self.draw()

    @property
    def patience(self) -> float | None:
        """For how many seconds without an event a check may go on before a line says what is being waited for."""
        modules = {name.partition(".")[0] for name in self._live.checking}
        return PATIENCE if len(modules) == 1 and not self._long else None

    def explain_waiting(self) -> None:
        """Say what becomes of a check that takes long."""
        self._long = True

    def _look(self) -> None:
        noticed = time.perf_counter()
        self._timings.mark("noticed")
        before = self._live.snapshot
        if settled(self._live):
            self._timings.mark("asked")
            if self._live.checking:
                self._saved_at, self._hint, self._cursor = noticed, False, None
                self._notes, self._message, self._asking = [], self._of_reset, None
                self._of_reset, self._long = "", False
            elif self._live.snapshot is not before:
                self._message = "saved: nothing that runs was changed"

    def _answer(self, answer: Answer) -> None:
        if self._live.answer(answer):
            self._long = False
            self._timings.mark("answered")
            self._seconds = time.perf_counter() - (self._saved_at or time.perf_counter())
            self._alone = False
        self._notes += self._live.news
        self._live.news.clear()
        if self._live.problems:
            self._message = f"The kit itself failed: {self._live.problems[0][:200]}"

    def _press(self, key: str) -> None:
        if self._asking:
            self._answer_question(key)
        elif self._cursor is not None and key in ("up", "down", "k", "j", "enter", "l", "escape"):
            self._choose(key)
        else:
            action: Callable[[], None] | None = {
                "n": self._next,
                "h": self._toggle_hint,
                "m": lambda: self._show_hint(1),
                "p": self._toggle_picture,
                "l": self._list,
                "a": self._live.run_all,
                "e": self._edit,
                "r": self._reset,
                "q": self._quit,
                "escape": self._close,
            }.get(key)
            if action is None:
                self._message = f"{key!r} is no key here" if key.isprintable() else ""
            else:
                action()

    def _next(self) -> None:
        focus = self._live.focus
        if self._live.checking:
            self._message = "still checking"
        elif not self._live.passing:
            self._message = f"{focus} does not pass yet. Stuck? h is a hint; l goes anywhere"
        elif (name := self._live.next_function()) is None:
            self._message = "everything passes: there is nothing after this"
        else:
            self._close()
            self._notes = []
            self._live.go_to(name)

    def _close(self) -> None:
        self._hint, self._cursor, self._alone = False, None, False

    def _toggle_hint(self) -> None:
        if self._hint:
            self._hint = False
        else:
            self._show_hint(0)

    def _show_hint(self, more: int) -> None:
        if not hints.steps(self._live.focus, self._live.curriculum.package):
            self._message = f"there are no hints for {self._live.focus}"
            return
        remembered = state.load(self._folder)
        section = remembered.section(hints.KEY)
        already = hints.shown(section, self._live.focus)
        section[self._live.focus] = hints.next_count(already, more if already else 0)
        if section[self._live.focus] != already:
            remembered.save()
        self._hint, self._cursor = True, None

    def _toggle_picture(self) -> None:
        check = first_wrong(self._live.records.get(self._live.focus, []))
        if check is None or not check["error_map"]:
            self._message = "there is no picture of this: it shows which elements of an array are wrong"
        else:
            self._alone = not self._alone

    def _list(self) -> None:
        self._cursor = None if self._cursor else self._live.focus
        self._hint = False

    def _choose(self, key: str) -> None:
        names = list(self._live.curriculum.functions)
        assert self._cursor is not None
        if key in ("l", "escape"):
            self._cursor = None
        elif key == "enter":
            chosen, self._cursor = self._cursor, None
            self._notes = []
            self._live.go_to(chosen)
        else:
            step = 1 if key in ("down", "j") else -1
            self._cursor = names[(names.index(self._cursor) + step) % len(names)]

    def _edit(self) -> None:
        module, _, name = self._live.focus.partition(".")
        check = first_wrong(self._live.records.get(self._live.focus, []))
        where = check["location"] if check else None
        file = self._folder / (where["file"] if where else f"{module}.py")
        line = where["line"] if where else editor.line_of(file, name)
        try:
            self._message = editor.open_at(file, line, self._keys)
        except UsageError as error:
            self._message = str(error)

    def _reset(self) -> None:
        self._asking = self._live.focus
        self._message = f"Make {self._live.focus} a stub again? Yours is kept in {files.BACKUPS}/. y / n"

    def _answer_question(self, key: str) -> None:
        function, self._asking = self._asking, None
        assert function is not None
        if key != "y":
            self._message = "nothing was changed"
            return
        try:
            kept = files.reset(self._folder, function, self._live.curriculum)
            self._message = self._of_reset = f"{function} is a stub again; yours is {kept}"
        except UsageError as error:
            self._message = str(error)

    def _quit(self) -> None:
        self.done = True

    def draw(self) -> None:
        """Show how things are."""
        columns, lines = self._keys.size()
        self._keys.show(view.render_frame(self._view(), columns, lines, no_color=self._no_color))
        self._timings.drawn()

    def _view(self) -> view.WatchScreen:
        live = self._live
        focus, statuses = live.focus, live.statuses
        check = first_wrong(live.records.get(focus, [])) if statuses.get(focus) != "passed" else None
        # Not those that are being checked, nor those of a file that cannot be read: that is said once.
        broken = [
            name for name in live.broken if name != focus and name in statuses and live.readable(name.partition(".")[0])
        ]
        if check is None and broken and not live.checking:
            check = first_wrong(live.records.get(broken[0], []))
            check = check if check and check["status"] != "not_started" else None  # the note says it, if it was reset
        unwritten = check is not None and check["status"] == "not_started"
        if unwritten and live.checking and not live.snapshot.is_stub(focus):
            check, unwritten = None, False  # what is known is of the code before
        stub = editor.beginning(self._folder, focus) if unwritten else None
        if self._alone and check and check["error_map"]:
            check = check | {"inputs": None, "message": "", "help": None, "warnings": [], "output": "",
                             "location": None, "mistake": None, "first_wrong_stage": None}  # fmt: skip
        notes = [*self._notes, *(f"! {name} was right and is not any more" for name in broken[:2])]
        shown, steps = None, hints.steps(focus, live.curriculum.package) if self._hint else ()
        if steps:
            count = hints.shown(state.load(self._folder).section(hints.KEY), focus)
            shown = (list(zip(hints.KINDS, steps, strict=True))[:count], len(hints.KINDS))
        return view.WatchScreen(
            name=self._folder.name,
            statuses=live.latest,
            points=totals(live),
            focus=focus,
            passing=live.passing,
            tally=tally(live),
            checking=live.checking,
            seconds=self._seconds,
            check=None if stub else check,
            stub=stub,
            next_function=live.next_function() if statuses.get(focus) == "passed" else None,
            hint=shown,
            cursor=self._cursor,
            message=self._message or (LONG if self._long else live.notes[0] if live.notes else ""),
            notes=notes,
            link=editor.linker(self._folder),
            details=details(live) if self._cursor else {},
            curriculum=live.curriculum,
        )


def run(folder: Path, *, poll: bool, no_color: bool) -> None:
    """Watch a workspace in a terminal until q or Ctrl-C."""
    events = Events()
    live, checker = watched(folder, events.put)
    saves = Saves(folder, lambda: events.put(SAVED), poll)
    try:
        with Keyboard(events) as keys:
            watch = Watch(folder, live, keys, no_color)
            live.begin()
            watch.draw()
            try:
                while not watch.done:
                    event = events.take(keys, watch.patience)
                    if event is None:
                        watch.explain_waiting()
                    watch.handle(None if event is RESIZED else event)
            except KeyboardInterrupt:  # Ctrl-C is one more way to quit
                pass
    finally:
        saves.close()
        checker.close()
    print_parting(live, Console(no_color=no_color or None, highlight=False))


def can_be_interactive() -> bool:
    """Whether there is a terminal on both ends, of a kind that single keys can be read from."""
    try:
        import termios  # noqa: F401
    except ImportError:
        return False
    return os.isatty(0) and os.isatty(1) and os.environ.get("TERM") != "dumb"

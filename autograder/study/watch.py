"""`headway watch`: save, and know. Interactive in a terminal, line by line elsewhere."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from autograder.errors import UsageError
from autograder.report import watching as view
from autograder.report.terminal import STYLES
from autograder.study import editor, hints, keep, progress, state
from autograder.study.checker import Answer, Checker
from autograder.study.keyboard import RESIZED, Events, Keyboard
from autograder.study.live import Live, first_wrong
from autograder.study.saves import Saves

SAVED = object()
GRACE, LOOKS = 0.02, 3  # a file that looks half written is looked at again this soon, this often


def settled(live: Live) -> bool:
    """Look at the files; while one looks half written, wait a moment for the rest of it."""
    return live.look_again_if(lambda: time.sleep(GRACE), LOOKS)


class Timings:
    """When each stage from a save to its verdict was reached: a line of JSON each, for `tests/bench/bench_watch.py`.

    Nothing is written unless HEADWAY_TIMINGS names a file.
    """

    def __init__(self) -> None:
        self._file = os.environ.get("HEADWAY_TIMINGS")
        self._marks: dict[str, float] = {}

    def mark(self, stage: str) -> None:
        """Note that a stage is reached; the first time counts, until the verdict is drawn."""
        if self._file:
            self._marks.setdefault(stage, time.time())

    def drawn(self) -> None:
        """Note that the screen was drawn; write the line if that was a verdict."""
        if self._file and "answered" in self._marks:
            self.mark("drawn")
            with open(self._file, "a", encoding="utf-8") as file:
                file.write(json.dumps(self._marks) + "\n")
            self._marks = {}


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

    def _look(self) -> None:
        noticed = time.perf_counter()
        self._timings.mark("noticed")
        before = self._live.snapshot
        if settled(self._live):
            self._timings.mark("asked")
            if self._live.checking:
                self._saved_at, self._hint, self._cursor = noticed, False, None
                self._notes, self._message, self._asking = [], "", None
            elif self._live.snapshot is not before:
                self._message = "saved: nothing that runs was changed"

    def _answer(self, answer: Answer) -> None:
        if self._live.answer(answer):
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
        remembered = state.load(self._folder)
        section = remembered.section(hints.KEY)
        already = hints.shown(section, self._live.focus)
        section[self._live.focus] = hints.next_count(already, more if self._hint or not more else max(more, 1))
        if section[self._live.focus] != already:
            remembered.save()
        self._hint, self._cursor = True, None

    def _toggle_picture(self) -> None:
        check = first_wrong(self._live.records.get(self._live.focus, []))
        if check is None or not check["picture"]:
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
        where = check["where"] if check else None
        file = self._folder / (where["file"] if where else f"{module}.py")
        line = where["line"] if where else editor.line_of(file, name)
        try:
            self._message = editor.open_at(file, line, self._keys)
        except UsageError as error:
            self._message = str(error)

    def _reset(self) -> None:
        self._asking = self._live.focus
        self._message = f"Make {self._live.focus} a stub again? Yours is kept in {keep.BACKUPS}/. y / n"

    def _answer_question(self, key: str) -> None:
        function, self._asking = self._asking, None
        assert function is not None
        if key != "y":
            self._message = "nothing was changed"
            return
        try:
            kept = keep.reset(self._folder, function)
            self._message = f"{function} is a stub again; yours is {kept}"
        except UsageError as error:
            self._message = str(error)

    def _quit(self) -> None:
        self.done = True

    def draw(self) -> None:
        """Show how things are."""
        columns, lines = self._keys.size()
        self._keys.show(view.frame(self._view(), columns, lines, no_color=self._no_color))
        self._timings.drawn()

    def _view(self) -> view.View:
        live = self._live
        focus, statuses = live.focus, live.statuses
        check = first_wrong(live.records.get(focus, [])) if statuses.get(focus) != "passed" else None
        broken = [
            name for name in live.broken if name != focus and name in statuses
        ]  # not those that are being checked
        if check is None and broken and not live.checking:
            check = first_wrong(live.records.get(broken[0], []))
        stub = editor.beginning(self._folder, focus) if check and check["status"] == "not_started" else None
        if self._alone and check and check["picture"]:
            check = check | {"case": None, "message": "", "help": None, "hints": [], "output": "", "where": None,
                             "mistake": None, "departure": None}  # fmt: skip
        notes = [*self._notes, *(f"! {name} was right and is not any more" for name in broken[:2])]
        shown = None
        if self._hint:
            count = hints.shown(state.load(self._folder).section(hints.KEY), focus)
            shown = (list(zip(hints.KINDS, hints.steps(focus), strict=True))[:count], len(hints.KINDS))
        return view.View(
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
            message=self._message or (live.notes[0] if live.notes else ""),
            notes=notes,
            link=editor.linker(self._folder),
            details=details(live) if self._cursor else {},
            curriculum=live.curriculum,
        )


def totals(live: Live) -> tuple[float, float]:
    """Points earned and possible, of the functions that have been checked; bonus work counts as earned only."""
    earned = sum(entry.earned for entry in live.entries.values())
    possible = sum(e.possible for name, e in live.entries.items() if not live.curriculum.functions[name].bonus)
    return earned, possible


def tally(live: Live) -> str:
    """How many checks of the function in hand pass, if it is written and some do not."""
    statuses = [record["status"] for record in live.records.get(live.focus, [])]
    right = statuses.count("passed")
    written = live.statuses.get(live.focus, "not_started") != "not_started"
    return f" {right}/{len(statuses)}" if written and right < len(statuses) else ""


def details(live: Live) -> dict[str, str]:
    """By function: points, and since when it has been as it is."""
    statuses = live.latest
    return {
        name: f"{entry.earned:g} / {entry.possible:g} · {progress.ago(entry.since)}"
        for name, entry in live.entries.items()
        if statuses.get(name, "not_started") != "not_started"
    }


def run(folder: Path, *, poll: bool, no_color: bool) -> None:
    """Watch a workspace in a terminal until q or Ctrl-C."""
    events = Events()
    first = progress_focus(folder)
    checker = Checker(folder, (first,), events.put)
    live = Live(folder, checker)
    saves = Saves(folder, lambda: events.put(SAVED), poll)
    try:
        with Keyboard(events) as keys:
            watch = Watch(folder, live, keys, no_color)
            live.begin()
            watch.draw()
            try:
                while not watch.done:
                    event = events.take(keys)
                    watch.handle(None if event is RESIZED else event)
            except KeyboardInterrupt:  # Ctrl-C is one more way to quit
                pass
    finally:
        saves.close()
        checker.close()
    print_parting(live, Console(no_color=no_color or None, highlight=False))


def progress_focus(folder: Path) -> str:
    """The function that was in hand when the workspace was last watched, or the course's first."""
    from autograder.curriculum import TRANSFORMER
    from autograder.study.live import KEY

    at = state.load(folder).content.get(KEY)
    return at if isinstance(at, str) and at in TRANSFORMER.functions else next(iter(TRANSFORMER.functions))


def print_parting(live: Live, console: Console) -> None:
    """Two lines when it is over: how far, and how to go on."""
    done = sum(status == "passed" for status in live.latest.values())
    console.print(Text(f"{done} of {len(live.curriculum.functions)} functions are right. You were at {live.focus}."))
    console.print(Text("Go on: headway"))


def run_plain(folder: Path, *, poll: bool, console: Console) -> None:
    """Watch line by line, for screen readers, logs and pipes: what is checked, then one line for each function."""
    events = Events()
    checker = Checker(folder, (progress_focus(folder),), events.put)
    live = Live(folder, checker)
    saves = Saves(folder, lambda: events.put(SAVED), poll)
    live.begin()
    _say(console, f"watching {folder.name}; Ctrl-C ends it")
    _say(console, f"checking {', '.join(live.checking)}")
    try:
        while True:
            event = events.take()
            if event is SAVED and settled(live) and live.checking:
                _say(console, f"checking {', '.join(live.checking)}")
            elif isinstance(event, Answer):
                asked = live.checking
                if live.answer(event):
                    for name in asked:
                        _say(console, verdict_line(live, name))
                for line in (*live.news, *live.problems):
                    _say(console, line)
                live.news.clear()
                for name in live.broken:
                    _say(console, f"was right and is not any more: {verdict_line(live, name)}")
    except KeyboardInterrupt:
        pass
    finally:
        saves.close()
        checker.close()
    print_parting(live, console)


def verdict_line(live: Live, name: str) -> str:
    """One function's verdict in one line of words."""
    status = live.statuses.get(name, "not_started")
    check = first_wrong(live.records.get(name, []))
    line = f"{STYLES[status][0]} {name}: {status.replace('_', ' ')}"
    if check is None or status == "not_started":
        return line
    where = f" ({check['where']['file']}:{check['where']['line']})" if check["where"] else ""
    mistake = f" It looks like {check['mistake']['title']}." if check["mistake"] else ""
    return f"{line}: {check['title']}: {check['message']}{where}.{mistake}"


def _say(console: Console, line: str) -> None:
    console.print(Text(line), soft_wrap=True)
    with_flush: Any = console.file
    with_flush.flush()


def can_be_interactive() -> bool:
    """Whether there is a terminal on both ends, of a kind that single keys can be read from."""
    try:
        import termios  # noqa: F401
    except ImportError:
        return False
    return os.isatty(0) and os.isatty(1) and os.environ.get("TERM") != "dumb"

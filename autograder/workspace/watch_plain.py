"""Watching line by line, for screen readers, logs and pipes."""

import queue
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from autograder.report.check_report import STATUS_STYLES
from autograder.workspace.background_checker import Answer
from autograder.workspace.file_watcher import Saves
from autograder.workspace.session import Live, first_wrong, settled, watched

SAVED = object()


def run(folder: Path, *, poll: bool, console: Console) -> None:
    """Watch line by line, for screen readers, logs and pipes: what is checked, then one line for each function."""
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    live, checker = watched(folder, events.put)
    saves = Saves(folder, lambda: events.put(SAVED), poll)
    live.begin()
    _say(console, f"watching {folder.name}; Ctrl-C ends it")
    _say(console, f"checking {', '.join(live.checking)}")
    told: set[str] = set()
    try:
        while True:
            try:
                event = events.get(timeout=1.0)  # not for ever: where signals do not end a wait, Ctrl-C still works
            except queue.Empty:
                continue
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
                    if name not in told:
                        _say(console, f"was right and is not any more: {verdict_line(live, name)}")
                told = set(live.broken)
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
    line = f"{STATUS_STYLES[status][0]} {name}: {status.replace('_', ' ')}"
    if check is None or status == "not_started":
        return line
    where = f" ({check['location']['file']}:{check['location']['line']})" if check["location"] else ""
    mistake = f" It looks like {check['mistake']['title']}." if check["mistake"] else ""
    return f"{line}: {check['title']}: {check['message']}{where}.{mistake}"


def _say(console: Console, line: str) -> None:
    console.print(Text(line), soft_wrap=True)


def print_parting(live: Live, console: Console) -> None:
    """Two lines when it is over: how far, and how to go on."""
    done = sum(status == "passed" for status in live.latest.values())
    console.print(Text(f"{done} of {len(live.curriculum.functions)} functions are right. You were at {live.focus}."))
    console.print(Text("Go on: headway"))

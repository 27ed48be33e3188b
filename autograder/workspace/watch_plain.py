"""`headway watch` as plain lines, for screen readers, logs and pipes."""

import contextlib
import queue
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Never

from rich.console import Console
from rich.text import Text

from autograder.core.text import clean_name
from autograder.documents.reading import Document
from autograder.report import value_words, wording
from autograder.report.assignment_finished import finished_lines
from autograder.workspace import progress
from autograder.workspace.background_checker import CheckReply
from autograder.workspace.file_watcher import REREAD, SAVED
from autograder.workspace.finished import finished_assignment
from autograder.workspace.session import WatchSession, watched


def run(folder: Path, *, poll: bool, console: Console) -> None:
    """Watch a workspace until Ctrl-C, printing what is checked and then one line for each function."""
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with watched(folder, events.put, poll=poll) as session:
        session.begin()
        _print_line(console, f"watching {clean_name(folder.name)}; press Ctrl-C to stop")
        _print_line(console, f"checking {', '.join(session.checking)}")
        with contextlib.suppress(KeyboardInterrupt):
            _follow(session, events, console)
    print_progress(session, console)


def _follow(session: WatchSession, events: "queue.SimpleQueue[Any]", console: Console) -> Never:
    """Report what follows from each event, until Ctrl-C."""
    # The finished assignments that need not be reported.
    shown = {*progress.passed_assignments(session.statuses, session.curriculum)}
    reported: set[str] = set()  # the broken functions already reported
    source_notes: list[str] = []  # already printed
    while True:
        try:
            # With a timeout, because on some systems a signal does not interrupt a wait, so Ctrl-C would not work.
            event = events.get(timeout=1.0)
        except queue.Empty:
            continue
        is_read = event in (SAVED, REREAD)
        if is_read and session.check_changes(is_save=event is SAVED) and session.checking:
            _print_line(console, f"checking {', '.join(session.checking)}")
        elif isinstance(event, CheckReply):
            checked = session.checking
            diagnosed = session.diagnosing
            in_foreground = session.receive(event)
            if in_foreground:
                for line in report_lines(session, checked):
                    _print_line(console, line)
                for module in dict.fromkeys(name.partition(".")[0] for name in checked):
                    finished = finished_assignment(session.workspace, module, session.statuses)
                    if finished is not None and module not in shown:
                        for line in finished_lines(finished):
                            _print_line(console, line)
                    shown = shown | {module} if finished is not None else shown - {module}
                for line in session.source_notes() if session.source_notes() != source_notes else []:
                    _print_line(console, line)
                source_notes = session.source_notes()
            elif diagnosed is not None and diagnosed != session.diagnosing:
                for line in cause_lines(session, diagnosed):
                    _print_line(console, line)
            for line in (*session.badge_lines, *session.internal_errors):
                _print_line(console, line)
            session.badge_lines.clear()
            for name in session.broken:
                check = session.most_telling_check(name)
                if name not in reported and not (check and wording.broken_file(check)):  # has a line of its own
                    line = name if in_foreground and name in checked else function_line(session, name)
                    _print_line(console, f"used to pass and now fails: {line}")
            reported = set(session.broken)


def report_lines(session: WatchSession, names: Iterable[str]) -> Iterator[str]:
    """Yield what was found, in words: a line for each function, more about the current one, one for a broken file."""
    broken: set[str] = set()
    for name in names:
        check = session.most_telling_check(name)
        file = wording.broken_file(check) if check else ""
        if check is None or not file:
            yield function_line(session, name)
            if check is None and (printed := session.printed(name)):
                yield f"  it still prints: {wording.shortened(printed)}"
        elif file not in broken:
            yield f"{file}: {check['message']}{_place(check)}. This affects {wording.affected_text(check)}."
        if check is not None and check["status"] in wording.FAILED_STATUSES and file not in broken:
            yield from _details(check) if name == session.focus or file else ()
        broken.add(file)


def _details(check: Document) -> Iterator[str]:
    """Yield the rest of the report of a check, without tables and marks, and the command for a hint."""
    labels = wording.LABELS
    rows = (labels["inputs"], check["inputs"]), value_words.worst_value_text(check), (labels["help"], check["help"])
    for name, text in rows:
        if text:
            yield f"  {name}: {text}"
    if not wording.broken_file(check):
        yield f"  for a hint: headway hint {check['function']}"


def _place(check: Document) -> str:
    return f" ({wording.location_text(check['location'])})" if check["location"] else ""


def cause_lines(session: WatchSession, name: str) -> Iterator[str]:
    """Yield the mistake that was found in a function whose report has been printed, if any."""
    check = session.most_telling_check(name)
    if check is not None and (cause := wording.cause(check)):
        yield f"{name}: {check['title']}: likely cause: {cause}"


def function_line(session: WatchSession, name: str) -> str:
    """Return the status of one function, and its most telling check, as one line of words."""
    status = session.statuses.get(name, "not_started")
    check = session.most_telling_check(name)
    line = f"{name}: {wording.STATUS_WORDS[status]}"
    if check is None or status == "not_started":
        return line
    where = _place(check)
    cause = wording.cause(check)
    mistake = f" Likely cause: {cause}." if cause else ""
    return f"{line}: {check['title']}: {check['message']}{where}.{mistake}"


def _print_line(console: Console, line: str) -> None:
    console.print(Text(line), soft_wrap=True)


def print_progress(session: WatchSession, console: Console) -> None:
    """Print the student's progress and how to resume, when watching ends."""
    passed = list(session.latest_statuses.values()).count("passed")
    console.print(Text(f"{passed} of {len(session.curriculum.functions)} functions pass."))
    console.print(Text(f"You were working on {session.focus}. To continue: headway"))

"""`headway watch` as plain lines, for screen readers, logs and pipes."""

import contextlib
import queue
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from autograder.core.text import clean_name
from autograder.documents.reading import Document
from autograder.report import value_words, wording
from autograder.report.assignment_finished import finished_lines
from autograder.workspace import progress
from autograder.workspace.background_checker import CheckReply
from autograder.workspace.file_watcher import SAVED
from autograder.workspace.finished import finished_assignment
from autograder.workspace.session import WatchSession, watched


def run(folder: Path, *, poll: bool, console: Console) -> None:
    """Watch a workspace until Ctrl-C, printing what is checked and then one line for each function."""
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with watched(folder, events.put, poll=poll) as session:
        session.begin()
        watch = _PlainWatch(session, console)
        watch.print(f"watching {clean_name(folder.name)}; press Ctrl-C to stop")
        watch.print(watch.checking_line)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                # With a timeout, because on some systems a signal does not interrupt a wait, so Ctrl-C would not work.
                with contextlib.suppress(queue.Empty):
                    watch.handle(events.get(timeout=1.0))
    print_progress(session, console)


class _PlainWatch:
    """Prints what follows from each event."""

    def __init__(self, session: WatchSession, console: Console) -> None:
        self._session, self._console = session, console
        # The finished assignments that need not be reported.
        self._finished = {*progress.passed_assignments(session.workspace.statuses, session.curriculum)}
        self._broken: set[str] = set()  # the functions already reported
        self._source_notes: list[str] = []  # already printed

    @property
    def checking_line(self) -> str:
        return f"checking {', '.join(self._session.checking)}"

    def print(self, *lines: str) -> None:
        for line in lines:
            self._console.print(Text(line), soft_wrap=True)

    def handle(self, event: Any) -> None:
        session = self._session
        if isinstance(event, CheckReply):
            self._receive(event)
        elif session.check_changes(is_save=event is SAVED) and session.checking:
            self.print(self.checking_line)

    def _receive(self, reply: CheckReply) -> None:
        session = self._session
        checked, diagnosed = session.checking, session.diagnosing
        if in_foreground := session.receive(reply):
            self.print(*report_lines(session, checked), *self._finished_lines(checked))
            self.print(*(session.source_notes() if session.source_notes() != self._source_notes else ()))
            self._source_notes = session.source_notes()
        elif diagnosed is not None and diagnosed != session.diagnosing:
            check = session.most_telling_check(diagnosed)  # Its report has been printed.
            if check is not None and (cause := wording.cause(check)):
                self.print(f"{diagnosed}: {check['title']}: {wording.cause_label(check)}: {cause}")
        self.print(*session.badge_lines, *session.internal_errors)
        session.badge_lines.clear()
        for name in session.broken:
            check = session.most_telling_check(name)
            if name not in self._broken and not (check and wording.broken_file(check)):  # has a line of its own
                line = name if in_foreground and name in checked else function_line(session, name)
                self.print(f"used to pass and now fails: {line}")
        self._broken = set(session.broken)

    def _finished_lines(self, checked: Iterable[str]) -> Iterator[str]:
        """Yield the lines of the assignments that all pass since the last check."""
        for module in dict.fromkeys(name.partition(".")[0] for name in checked):
            finished = finished_assignment(self._session.workspace, module, self._session.workspace.statuses)
            if finished is None:
                self._finished.discard(module)
            elif module not in self._finished:
                self._finished.add(module)
                yield from finished_lines(finished)


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


def function_line(session: WatchSession, name: str) -> str:
    """Return the status of one function, and its most telling check, as one line of words."""
    status = session.workspace.statuses.get(name, "not_started")
    check = session.most_telling_check(name)
    line = f"{name}: {wording.STATUS_WORDS[status]}"
    if check is None or status == "not_started":
        return line
    where = _place(check)
    cause = wording.cause(check)
    mistake = f" {wording.cause_label(check).capitalize()}: {cause}." if cause else ""
    return f"{line}: {check['title']}: {check['message']}{where}.{mistake}"


def print_progress(session: WatchSession, console: Console) -> None:
    """Print the student's progress and how to resume, when watching ends."""
    passed = sum(entry.status == "passed" for entry in session.workspace.progress.values())
    console.print(Text(f"{passed} of {len(session.curriculum.functions)} functions pass."))
    console.print(Text(f"You were working on {session.focus}. To continue: headway"))

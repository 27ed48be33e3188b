"""What is known about a workspace while it is being worked on: which function is in hand, what must be checked again.

No terminal and no clock: it is told of saves and of the checker's answers, and asks the checker for what it needs.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.core.relative_time import ago
from autograder.curriculum import Curriculum
from autograder.results import SubmissionResult, function_status
from autograder.workspace import badges, dependencies, progress, state
from autograder.workspace.background_checker import Answer, Checker, Request

GRACE, LOOKS = 0.02, 3  # a file that looks half written is looked at again this soon, this often
WRONG = ("failed", "error", "timeout")


class Live:
    """The student's session.

    Attributes:
        focus: the function in hand; it moves to what is being edited, and otherwise only when it is told to.
        checking: what is being checked in the foreground now; empty when the verdict on the screen is the latest.
        broken: functions that passed, and do not since something else was changed.
        news: badges that were earned since they were last looked at.
        seconds: what the latest verdict took, from the save that was noticed.
    """

    def __init__(self, folder: Path, checker: Checker, curriculum: Curriculum) -> None:
        self.folder = folder
        self.curriculum = curriculum
        self._checker = checker
        self._number = 0
        self.snapshot = dependencies.take(folder, curriculum)
        remembered = state.load(folder)
        self.notes = remembered.notes
        self.entries = progress.load(remembered)
        self.records: dict[str, list[dict[str, Any]]] = {}
        self.broken: list[str] = []
        self.news: list[str] = []
        self.problems: list[str] = []
        self.checking: tuple[str, ...] = ()
        self._brief: set[str] = set()  # their records name no mistakes
        self._waiting: set[str] = set()  # to be checked when nothing is more urgent
        self._background: tuple[str, ...] = ()
        self.focus = (
            progress.in_hand(remembered)
            or self._begun()
            or progress.next_open(self.statuses, curriculum)
            or next(iter(curriculum.functions))
        )

    def _begun(self) -> str | None:
        """The first function that has been written and not been found right: where work has begun without us."""
        names = (name for name in self.curriculum.functions if self.statuses.get(name) != "passed")
        return next((name for name in names if name in self.snapshot.prints and not self.snapshot.is_stub(name)), None)

    @property
    def statuses(self) -> dict[str, Any]:
        """The status of each function whose latest check was of the code as it is."""
        return progress.valid(self.entries, self.snapshot.prints)

    @property
    def latest(self) -> dict[str, Any]:
        """The latest known status of each function, also where the code has changed since."""
        return {name: entry.status for name, entry in self.entries.items()} | self.statuses

    @property
    def passing(self) -> bool:
        """Whether the function in hand passes."""
        return not self.checking and self.statuses.get(self.focus) == "passed"

    def readable(self, module: str) -> bool:
        """Whether Python can read a file, as it is now."""
        found = self.snapshot.modules.get(module)
        return found is not None and found.error is None

    def begin(self) -> None:
        """Check the function in hand, then whatever is not known yet."""
        self._waiting = {name for name in self.curriculum.functions if name not in self.statuses} - {self.focus}
        self._ask((self.focus,))

    def look(self) -> bool:
        """Look at the files again, and have checked what was changed.

        Returns:
            Whether anything was changed at all.
        """
        before, self.snapshot = self.snapshot, dependencies.take(self.folder, self.curriculum, self.snapshot)
        changed = self.snapshot.changes(before)
        if not changed:
            return self.snapshot.modules != before.modules
        mine = self.snapshot.own_changes(before)
        affected = {*changed, *(name for name in self.curriculum.functions if self._needs(name, mine))}
        unfinished = {*self.checking, *self._background}
        self._waiting |= affected | unfinished
        self._ask(self._in_hand(mine))
        return True

    def _needs(self, name: str, changed: Iterable[str]) -> bool:
        """Whether a function is built on what was changed, and its verdict may be another for that."""
        return self.statuses.get(name) != "passed" and not set(changed).isdisjoint(self.curriculum.all_needs(name))

    def _in_hand(self, changed: tuple[str, ...]) -> tuple[str, ...]:
        """What to check at once: the changed functions, the one in hand among them if it is built on one of them."""
        needs = self.curriculum.all_needs(self.focus)
        if self.focus in changed or not set(changed).isdisjoint(needs):
            return tuple(name for name in self.curriculum.functions if name in {*changed, self.focus})
        return changed

    def look_again_if(self, wait: Callable[[], None], times: int) -> bool:
        """Look at the files; while one that was readable looks half written, wait and look again, so many times."""
        before = self.snapshot
        for _ in range(times):
            now = dependencies.take(self.folder, self.curriculum, before)
            if not _half_written(now, before):
                break
            wait()
        return self.look()

    def run_all(self) -> None:
        """Check everything again."""
        self._waiting = set(self.curriculum.functions)
        self._ask(tuple(self.curriculum.functions))

    def go_to(self, function: str) -> None:
        """Take a function in hand."""
        self.focus = function
        remembered = state.load(self.folder)
        remembered.content[progress.AT] = function
        remembered.save()
        brief = function in self._brief and self.statuses.get(function) in WRONG
        if (brief or function not in self.records) and function not in self.checking:
            self._waiting |= {*self._background, *self.checking}
            self._ask((function,))

    def next_function(self) -> str | None:
        """What comes after the function in hand; None when everything passes."""
        return progress.next_open(self.statuses, self.curriculum, self.focus)

    def answer(self, answer: Answer) -> bool:
        """Take an answer of the checker.

        Returns:
            Whether it is the verdict that was waited for (and not one of the background).
        """
        if answer.failure is not None:
            raise answer.failure
        assert answer.request is not None and answer.result is not None
        if answer.request.number != self._number:
            return False
        first, self.checking, self._background = bool(self.checking), (), ()
        self._take(answer.result, answer.request.functions, foreground=first)
        self._go_on()
        return first

    def _take(self, result: SubmissionResult, functions: tuple[str, ...], foreground: bool) -> None:
        self.problems = result.internal_errors
        for name in functions:
            checks = [check for check in result.checks if check.function == name]
            status = function_status(checks)
            before = self.entries.get(name)
            if name in self.broken and status == "passed":
                self.broken.remove(name)
            if before and before.status == "passed" and status != "passed" and name not in self.broken:
                self.broken.append(name)
            (self._brief.discard if foreground else self._brief.add)(name)
            self.records[name] = [asdict(check) | {"points": _points(check)} for check in checks]
        fresh = progress.update(self.entries, result.checks, self.snapshot.prints)
        remembered = state.load(self.folder)
        self.news += badges.for_functions(remembered, fresh)
        progress.store(remembered, self.entries)
        if foreground:
            self._follow(functions)
            remembered.content[progress.AT] = self.focus
        remembered.save()

    def _follow(self, checked: tuple[str, ...]) -> None:
        """Take in hand what was edited: the first that is wrong, or the one that was in hand if all of it is right."""
        if self.focus in checked and len(checked) == len(self.curriculum.functions):
            return
        statuses = self.statuses
        wrong = [name for name in checked if statuses.get(name) in WRONG]
        started = [name for name in checked if statuses.get(name) != "not_started"]
        if wrong and (self.focus not in wrong):
            self.focus = wrong[0]
        elif self.focus not in checked and started:
            self.focus = started[0]

    def _ask(self, functions: tuple[str, ...]) -> None:
        self._number += 1
        self._checker.cancel_before(self._number)
        self.checking, self._background = functions, ()
        self._waiting -= set(functions)
        self._checker.ask(Request(self._number, functions, self._known(functions)))

    def _go_on(self) -> None:
        """Check the next assignment of what is waiting, in the background.

        Not while a file is gone or cannot be read: all that imports it would fail for that alone.
        """
        if not all(map(self.readable, self.curriculum.modules)):
            return
        for assignment in self.curriculum.assignments:
            names = tuple(f.qualified for f in assignment.functions if f.qualified in self._waiting)
            if names:
                self._waiting -= set(names)
                self._background = names
                self._number += 1
                self._checker.ask(Request(self._number, names, self._known(names), brief=True))
                return

    def _known(self, functions: tuple[str, ...]) -> dict[str, Any]:
        stubs = {name: "not_started" for name in self.curriculum.functions if self.snapshot.is_stub(name)}
        known = {**stubs, **self.statuses}
        return {name: status for name, status in known.items() if name not in functions}


def _points(check: Any) -> dict[str, float]:
    return {"earned": check.earned, "possible": check.possible}


def _half_written(now: dependencies.Snapshot, before: dependencies.Snapshot) -> bool:
    """Whether a file that could be read has become empty, is gone, or is no Python any more: is a save under way?"""
    for name, old in before.modules.items():
        new = now.modules.get(name)
        if old.error is None and old.texts and (new is None or new.error is not None or not new.texts):
            return True
    return False


def first_wrong(records: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The check whose panel tells most: the first that is wrong, else the first that does not pass."""
    for statuses in (WRONG, ("blocked",), ("not_started",)):
        for record in records:
            if record["status"] in statuses:
                return record
    return None


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
        name: f"{entry.earned:g} / {entry.possible:g} · {ago(entry.since)}"
        for name, entry in live.entries.items()
        if statuses.get(name, "not_started") != "not_started"
    }


def settled(live: Live) -> bool:
    """Look at the files; while one looks half written, wait a moment for the rest of it."""
    return live.look_again_if(lambda: time.sleep(GRACE), LOOKS)


def watched(folder: Path, tell: Callable[[Answer], None]) -> tuple[Live, Checker]:
    """A workspace to be watched, with a checker that warms up for the function in hand, or the course's first.

    Args:
        tell: see `Checker`.
    """
    remembered = state.load(folder)
    curriculum = remembered.curriculum
    first = progress.in_hand(remembered) or next(iter(curriculum.functions))
    checker = Checker(folder, (first,), tell, curriculum)
    return Live(folder, checker, curriculum), checker

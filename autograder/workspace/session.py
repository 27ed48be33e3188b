"""The state of a watched workspace: the current function, what is known, and what must be checked again.

It has no terminal and no clock. The watch loops report saves and the checker's replies to it, and it sends the checker
the requests that follow from them.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.core.text import ago
from autograder.documents.reading import Document
from autograder.documents.results import DIAGNOSED, Status, SubmissionResult, check_document, function_status
from autograder.report import wording
from autograder.workspace import progress
from autograder.workspace.background_checker import BackgroundChecker, CheckReply, CheckRequest
from autograder.workspace.file_watcher import FileWatcher
from autograder.workspace.workspace import Workspace


class WatchSession:
    """A student's session in a watched workspace."""

    def __init__(self, workspace: Workspace, checker: BackgroundChecker) -> None:
        self.workspace = workspace
        self.curriculum = workspace.curriculum
        self._checker = checker
        self._number = 0
        self.records: dict[str, list[Document]] = {}  # the checks of each function
        self.broken: list[str] = []  # functions that used to pass and fail after an edit elsewhere
        self.badge_lines: list[str] = []  # not shown yet
        self.internal_errors: list[str] = []  # of the latest check
        self.checking: tuple[str, ...] = ()  # in the foreground; empty when the results shown are the latest
        self.diagnosing: str | None = None  # the function whose mistake is being looked for
        self._undiagnosed: set[str] = set()  # checked without looking for mistakes
        self._to_diagnose: dict[str, None] = {}  # wrong functions whose mistake is wanted, the most urgent first
        self._pending: set[str] = set()  # to be checked when nothing is more urgent
        self._background: tuple[str, ...] = ()
        # The current function follows the student's edits and otherwise changes only on request.
        self.focus = (
            workspace.current_function
            or self._first_started()
            or progress.next_unfinished(self.workspace.statuses, self.curriculum)
            or next(iter(self.curriculum.functions))
        )

    def _first_started(self) -> str | None:
        """Return the first function that is written and not known to pass: where the student has begun unwatched."""
        statuses, is_stub = self.workspace.statuses, self.workspace.snapshot.is_stub
        names = self.curriculum.functions
        return next((name for name in names if statuses.get(name) != "passed" and not is_stub(name)), None)

    @property
    def is_passing(self) -> bool:
        """Whether the current function passes, as it is now."""
        return not self.checking and self.workspace.statuses.get(self.focus) == "passed"

    def begin(self) -> None:
        """Check the current function, then every function whose status is unknown."""
        self._pending = self.curriculum.functions.keys() - self.workspace.statuses.keys()
        self._check(self.focus)

    def check_changes(self, *, is_save: bool = True) -> bool:
        """Read the files again, check the functions that may be affected, and return whether any module was changed.

        `is_save` is false if the files are only read again in case that the system has missed a save.
        """
        if is_save and not self.checking:
            self._interrupt()  # What runs in the background would slow down all that follows.
        before = self.workspace.refresh_after_save()
        affected = self.workspace.snapshot.affected_functions(before)
        if not affected:
            if not self.checking and not self.diagnosing and not self._background:
                self._continue()
            return self.workspace.snapshot.modules != before.modules
        edited = set(self.workspace.snapshot.edited_functions(before))
        statuses = self.workspace.statuses
        not_passed = (name for name in self.curriculum.functions if statuses.get(name) != "passed")
        prerequisites = self.curriculum.all_prerequisites
        dependent = {name for name in (*not_passed, self.focus) if not edited.isdisjoint(prerequisites(name))}
        self._pending |= {*affected, *dependent}
        # The current function is urgent, too, if it depends on what was edited.
        urgent = edited | (dependent & {self.focus})
        self._check(*(name for name in self.curriculum.functions if name in urgent))
        return True

    def source_notes(self) -> list[str]:
        """Return what to know about the file of the current function, and which other files are missing."""
        missing = (module for module in self.curriculum.modules if module not in self.workspace.snapshot.modules)
        return self.workspace.describe_sources(dict.fromkeys((self.focus.partition(".")[0], *missing)))

    def check_all(self) -> None:
        """Check everything again."""
        self._pending = set(self.curriculum.functions)
        self._check(*self.curriculum.functions)

    def go_to(self, function: str) -> None:
        """Make a function the current one, and check it unless its diagnosed result is known."""
        self.focus = function
        self.workspace.record_current_function(function)
        if function in self.checking:
            return
        if function not in self.records:
            self._check(function)
        elif function in self._undiagnosed:
            self._to_diagnose = {function: None} | self._to_diagnose
            if not self.checking:
                self._interrupt()
                self._continue()

    def next_function(self) -> str | None:
        """Return the function after the current one; None when everything passes."""
        return progress.next_unfinished(self.workspace.statuses, self.curriculum, self.focus)

    def receive(self, reply: CheckReply) -> bool:
        """Record a reply, continue in the background, and return whether a foreground check has ended.

        What is wrong is known then. Its mistakes are looked for afterwards, because that may take much longer.
        """
        if reply.failure is not None:
            raise reply.failure
        assert reply.request is not None and reply.result is not None
        if reply.request.number != self._number:
            return False
        foreground, functions = bool(self.checking), reply.request.functions
        self._record(reply.result, functions, foreground)
        if reply.request.diagnose:
            self._undiagnosed.difference_update(functions)
            self._to_diagnose = {name: None for name in self._to_diagnose if name not in functions}
        else:
            self._undiagnosed.update(functions)
        if foreground:
            self._to_diagnose = dict.fromkeys((self.focus, *functions)) | self._to_diagnose
        self._continue()
        return foreground

    def _record(self, result: SubmissionResult, functions: tuple[str, ...], foreground: bool) -> None:
        self.internal_errors = result.internal_errors
        self.workspace.locate(result)
        statuses: dict[str, Status] = {}
        for name in functions:
            checks = [check for check in result.checks if check.function == name]
            statuses[name] = function_status(checks)
            before = self.workspace.progress.get(name)
            if name in self.broken and statuses[name] == "passed":
                self.broken.remove(name)
            if before and before.status == "passed" and statuses[name] != "passed" and name not in self.broken:
                self.broken.append(name)
            self.records[name] = [check_document(check) for check in checks]
        if foreground:
            self._follow_edits(statuses)
        current_function = self.focus if foreground else None
        self.badge_lines += self.workspace.record(result, current_function=current_function)

    def _follow_edits(self, statuses: dict[str, Status]) -> None:
        """Move to the first checked function that is wrong, or stay if none is and the current one was checked."""
        if self.focus in statuses and len(statuses) == len(self.curriculum.functions):
            return
        wrong = [name for name, status in statuses.items() if status in wording.FAILED_STATUSES]
        started = [name for name, status in statuses.items() if status != "not_started"]
        if wrong and self.focus not in wrong:
            self.focus = wrong[0]
        elif self.focus not in statuses and started:
            self.focus = started[0]

    def _check(self, *functions: str) -> None:
        """Check functions in the foreground, in place of everything that is being checked."""
        self._interrupt()
        self.checking = functions
        self._submit(functions, diagnose=False)

    def _interrupt(self) -> None:
        """End everything that is being checked; `_continue` takes it up again."""
        self._checker.cancel_before(self._number + 1)
        self._pending |= {*self.checking, *self._background}
        self.checking, self.diagnosing, self._background = (), None, ()

    def _continue(self) -> None:
        """Look for the next wanted mistake, or else check the next assignment with pending functions.

        Nothing is checked in the background while a file is missing or unreadable, because everything that imports it
        would fail for that reason alone.
        """
        self.checking, self.diagnosing, self._background = (), None, ()
        self.diagnosing = next(filter(self._can_be_diagnosed, self._to_diagnose), None)
        if self.diagnosing is not None:
            self._submit((self.diagnosing,), diagnose=True)
            return
        self._to_diagnose = {}
        if not all(map(self.workspace.snapshot.is_readable, self.curriculum.modules)):
            return
        for assignment in self.curriculum.assignments:
            names = tuple(f.qualified for f in assignment.functions if f.qualified in self._pending)
            if names:
                self._background = names
                self._submit(names, diagnose=False)
                return

    def _can_be_diagnosed(self, function: str) -> bool:
        if function not in self._undiagnosed or function not in self.workspace.statuses:
            return False
        return any(record["status"] in DIAGNOSED for record in self.records[function])

    def _submit(self, functions: tuple[str, ...], *, diagnose: bool) -> None:
        self._number += 1
        self._pending -= set(functions)
        known = {name: status for name, status in self.workspace.known_statuses.items() if name not in functions}
        self._checker.submit(CheckRequest(self._number, functions, known, diagnose))

    def points(self) -> tuple[float, float]:
        """Return the points earned and possible, bonus points as earned only; 0 possible until all were checked."""
        earned, possible = progress.total_points(self.workspace.progress, self.curriculum)
        return earned, possible if self.workspace.progress.keys() >= self.curriculum.functions.keys() else 0.0

    def passed_checks_text(self) -> str:
        """Return how many checks of the current function pass, as " 3/5"; empty if it is a stub or all pass."""
        statuses = [record["status"] for record in self.records.get(self.focus, [])]
        passed = statuses.count("passed")
        started = self.workspace.statuses.get(self.focus, "not_started") != "not_started"
        return f" {passed}/{len(statuses)}" if started and passed < len(statuses) else ""

    def printed(self, function: str) -> str:
        """Return what a function printed in its latest checks; empty if it printed nothing."""
        return next((record["output"] for record in self.records.get(function, []) if record["output"]), "")

    def details(self) -> dict[str, str]:
        """Return the points of each started function, and for how long it has had its status."""
        return {
            name: f"{entry.earned:g} / {entry.possible:g} · {ago(entry.since)}"
            for name, entry in self.workspace.progress.items()
            if entry.status != "not_started"
        }

    def most_telling_check(self, function: str) -> Document | None:
        """Return the record of the most telling check that is wrong, else of the first that does not pass, if any."""
        records = self.records.get(function, [])
        failed = (record for record in records if record["status"] in wording.FAILED_STATUSES)
        if wrong := wording.most_telling_first(failed):
            file = wording.broken_file(wrong[0])
            return self._file_finding(file) if file else wrong[0]
        kinds = ("blocked", "not_started")
        return next((record for kind in kinds for record in records if record["status"] == kind), None)

    def _file_finding(self, file: str) -> Document:
        """Return one record for everything that a file keeps from running; stubs in other files are left out."""
        records = [
            record
            for name, records in self.records.items()
            if name.partition(".")[0] == file.removesuffix(".py") or not self.workspace.snapshot.is_stub(name)
            for record in records
        ]
        return wording.one_per_finding(record for record in records if wording.broken_file(record) == file)[0]


@contextlib.contextmanager
def watched(folder: Path, on_event: Callable[[Any], None], *, poll: bool) -> Iterator[WatchSession]:
    """Provide a session whose events are SAVED, REREAD and the replies of a checker, warm for the current function."""
    workspace = Workspace.open(folder)
    checker = BackgroundChecker(workspace, on_event)
    watcher = FileWatcher(folder, on_event, poll)
    try:
        yield WatchSession(workspace, checker)
    finally:
        watcher.close()
        checker.close()

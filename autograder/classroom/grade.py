"""Grade a class: read the submissions, grade those without a current result, write results and class document."""

import dataclasses
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from autograder.classroom import cache_keys, class_document, result_store, student_exceptions
from autograder.classroom.class_document import GradedClass
from autograder.classroom.policy import Policy
from autograder.classroom.result_store import JournalEntry, ResultStore
from autograder.classroom.student_budgets import StudentBudgets
from autograder.classroom.submissions import intake, layouts, roster
from autograder.classroom.submissions.model import Attempt, ClassMember
from autograder.classroom.worker import GradingTask, WorkerSetup, scratch_folder
from autograder.classroom.worker_pool import WorkerPool
from autograder.core.text import counted
from autograder.core.versions import torch_version
from autograder.curriculum import registry
from autograder.engine import session
from autograder.errors import UsageError, missing_package
from autograder.report.grading_progress import GradingProgress
from autograder.sandbox import UNSAFE, SandboxPolicy, SandboxUnavailable, strongest_level

REFRESH_SECONDS = 5.0


@dataclass(frozen=True)
class RunOptions:
    """The options of one run that are not part of the policy."""

    processes: int = 1  # that grade at once
    unsafe: bool = False  # grade without a sandbox
    force: bool = False  # also grade submissions that have a current result
    only: tuple[str, ...] = ()  # the students to grade, by any of their names; empty for all
    modules: tuple[str, ...] = ()  # the assignments to grade
    roster: Path | None = None
    cluster: str = ""  # address of a Dask scheduler whose workers grade; empty to grade on this machine


OnProgress = Callable[[GradingProgress], None]


def grade_class(
    folder: Path, out: Path, options: session.Options, policy: Policy, run: RunOptions, on_progress: OnProgress
) -> dict[str, Any]:
    """Grade the submissions in `folder` that have no current result; write results and class document to `out`.

    Return the class document. The seed of `options` is ignored: it is the policy's, the stored one, or a new one.
    Raises UsageError if there is nothing to grade, `out` cannot be written, or this machine has no sandbox.
    """
    students = layouts.read_class_members(folder, options.curriculum, policy.layout, run.modules, out=out)
    if run.roster is not None:
        students = roster.match_roster(students, roster.read_roster(run.roster))
    only = _submissions_of(students, run.only)
    exceptions, warnings = student_exceptions.exceptions_by_submission(policy.exceptions, students)
    warnings += _warn_of_unknown_dates(students, policy)
    started = time.perf_counter()
    with result_store.locked(out) as record_scratch, ResultStore(out) as store:
        graded_class = GradedClass(students, policy, options.curriculum, run.modules, 0, exceptions=exceptions)
        _require_same_class(graded_class, store)  # before anything of another class is overwritten
        graded_class.seed = store.seed(policy.seed)
        options = dataclasses.replace(options, seed=graded_class.seed, is_hidden=policy.is_hidden)
        settings = {"feedback": policy.feedback, "hidden": policy.checks.hidden, "sandboxed": not run.unsafe}
        run_key = cache_keys.run_key(options, **settings)
        tasks = list(_tasks(graded_class, store, run_key, run.force, only))
        if tasks and not run.cluster:
            _require_torch(options)
        recorder = _Recorder(graded_class, store, on_progress, len(tasks), started)
        for warning in warnings:
            recorder.warn(warning)
        try:
            setup = WorkerSetup(options, out, run_key, policy, store.results)
            if tasks and run.cluster:
                from autograder.classroom.dask_cluster import DaskCluster

                options = dataclasses.replace(options, sandbox=SandboxPolicy(unsafe=run.unsafe))
                setup = dataclasses.replace(setup, options=options)
                DaskCluster(setup, run.cluster, recorder.add, recorder.warn, recorder.next_task).run(tasks)
            elif tasks:
                with scratch_folder() as scratch:
                    record_scratch(scratch)
                    options = dataclasses.replace(options, sandbox=_sandbox_for(scratch, run.unsafe))
                    setup = dataclasses.replace(setup, options=options, scratch=scratch)
                    WorkerPool(setup, min(run.processes, len(tasks)), recorder.add, recorder.next_task).run(tasks)
        finally:
            document = recorder.finish()
    return document


def _require_same_class(graded_class: GradedClass, store: ResultStore) -> None:
    """Raise UsageError if there are results, but none of this class: two classes would overwrite each other's files."""
    files = (file for student in graded_class.students for _, _, file in graded_class.files_of(student))
    # The names of the result documents without the attempt are the names of the submissions.
    stored, expected = (
        {unquote(re.sub(r"(#\d+)?\.json$", "", name)) for name in names} for names in (store.entries, files)
    )
    if stored and expected and stored.isdisjoint(expected):
        example = f"{counted(len(stored), 'submission')}, for example {sorted(stored)[0]!r}"
        problem = f"{store.out} contains the results of another class ({example})"
        raise UsageError(f"{problem}. Choose another folder: --out DIR")


def _warn_of_unknown_dates(students: Sequence[ClassMember], policy: Policy) -> list[str]:
    """Return a warning if there is a due date, but the dates of some submissions are unknown."""
    if not any(assignment.due for assignment in policy.assignments.values()):
        return []
    submitted = [student.attempts for student in students if student.attempts]
    unknown = sum(any(not attempt.times and attempt.late is None for attempt in attempts) for attempts in submitted)
    if not unknown:
        return []
    hint = "Downloads from Gradescope and nbgrader contain dates; those from Canvas only mark late submissions."
    count = f"{unknown} of {counted(len(submitted), 'submission')}"
    return [f"No date is known for {count}. They count as on time unless [[exceptions]] gives late_days. {hint}"]


def _require_torch(options: session.Options) -> None:
    """Raise UsageError if PyTorch, which computes the answers for fresh inputs, is not installed."""
    built_in = options.curriculum.package == registry.BUILT_IN  # the references of other courses may not use PyTorch
    if built_in and options.seed and torch_version() is None:
        what = "a class is graded on fresh inputs, and PyTorch computes their answers"
        instead = "Without it, grade on the public inputs, whose answers students also have: --seed 0"
        raise missing_package(what, "torch", instead=instead)


def _submissions_of(students: Sequence[ClassMember], names: tuple[str, ...]) -> set[str] | None:
    """Return the submissions of the named students, or None for all if there are no names."""
    if not names:
        return None
    known, submissions = roster.StudentNames(students), set()
    for name in names:
        submission = known.find(name, "--only")
        if submission is None:
            raise UsageError(known.unknown(name))
        submissions.add(submission)
    return submissions


def _tasks(
    graded_class: GradedClass, store: ResultStore, run_key: str, force: bool, only: set[str] | None
) -> Iterator[GradingTask]:
    """Yield a task for each attempt that has no current result, or for each attempt if `force`.

    The newest attempts of all students come first: a student's limits may leave older ones out. Attempts that failed in
    the last run come after the others: what they cost then must not leave the others out once more.
    """
    students = [student for student in graded_class.students if only is None or student.submission in only]

    def order(numbered: tuple[int, Attempt, str]) -> tuple[bool, int]:
        attempt_number, _, file = numbered
        entry = store.entries.get(file)
        return entry is not None and entry.status == "failed", -attempt_number

    in_order = (sorted(graded_class.files_of(student), key=order) for student in students)
    number = 0
    for round_of_attempts in zip_longest(*in_order):
        for student, numbered in zip(students, round_of_attempts, strict=True):
            if numbered is None:
                continue
            _, attempt, file = numbered
            entry = store.entries.get(file)
            if not force and entry and store.is_current(file, _current_key(run_key, student, attempt, entry)):
                continue
            yield GradingTask(number, student.submission, file, attempt)
            number += 1


def _current_key(run_key: str, student: ClassMember, attempt: Attempt, entry: JournalEntry) -> str:
    """Return the key that the result of an attempt has today; files with an unchanged signature are not read."""
    signature = intake.file_signature(attempt)
    if not signature or signature != entry.signature:
        entry.digest, entry.signature = intake.content_digest(intake.read_files(attempt)), signature
    return cache_keys.result_key(run_key, student.submission, entry.digest)


class _Recorder:
    """Stores results as they arrive, reports progress, and rewrites the class document now and then."""

    def __init__(
        self, graded_class: GradedClass, store: ResultStore, on_progress: OnProgress, todo: int, started: float
    ) -> None:
        total = sum(len(graded_class.files_of(student)) for student in graded_class.students)
        self._class, self._store, self._on_progress, self._started = graded_class, store, on_progress, started
        self._progress = GradingProgress(todo, total - todo)
        self._written_at = time.monotonic()
        limits = graded_class.policy.limits
        self._budgets = StudentBudgets(limits.student_seconds, limits.sandbox_limits(), self._leave_out)
        on_progress(self._progress)

    def add(self, task: GradingTask, entry: JournalEntry) -> None:
        """Store one result."""
        self._budgets.charge(task, entry.cpu_seconds)
        self._store.add(entry)
        self._progress.done += 1
        self._progress.entry, self._progress.name = entry, task.name
        self._on_progress(self._progress)
        if time.monotonic() - self._written_at > REFRESH_SECONDS:
            self._write()
            self._written_at = time.monotonic()

    def next_task(self, todo: deque[GradingTask]) -> GradingTask | None:
        """Remove and return the first task whose student has CPU time left; count those whose student has none."""
        return self._budgets.next_task(todo)

    def _leave_out(self, task: GradingTask) -> None:
        self._class.left_out[task.name] += 1
        self._progress.done += 1
        self._on_progress(dataclasses.replace(self._progress, entry=None))

    def warn(self, text: str) -> None:
        """Report a warning."""
        self._on_progress(dataclasses.replace(self._progress, entry=None, warning=text))

    def finish(self) -> dict[str, Any]:
        """Write the class document and the table, and return the document."""
        document = self._write()
        with result_store.report_store_error(self._store.out):
            class_document.write_csv(self._store.out, document, self._store.entries)
        return document

    def _write(self) -> dict[str, Any]:
        self._class.seconds = time.perf_counter() - self._started
        document = self._class.document(self._store.entries)
        with result_store.report_store_error(self._store.out):
            class_document.write(self._store.out, document)
        return document


def _sandbox_for(scratch: Path, unsafe: bool) -> SandboxPolicy:
    """Return the strongest sandbox that holds on this machine, or raise UsageError if there is none."""
    if unsafe:
        return SandboxPolicy(unsafe=True)
    try:
        return strongest_level(scratch)
    except SandboxUnavailable as error:
        raise UsageError(
            f"this machine has no sandbox for untrusted code ({error}). To see what is missing: headway doctor. "
            f"To run submissions with your own privileges, able to read your files and use your network: --{UNSAFE}"
        ) from None

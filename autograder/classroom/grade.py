"""Grade a class: read the submissions, grade those without a current result, write results and class document."""

import dataclasses
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path

from autograder.classroom import score
from autograder.classroom.comments import comment_records
from autograder.classroom.comments.comment_records import CommentRecord
from autograder.classroom.comments.grade_history import Cause, GradeChange
from autograder.classroom.grading import cache_keys, class_guards
from autograder.classroom.grading.worker import GradingTask, WorkerSetup, scratch_folder
from autograder.classroom.grading.worker_pool import StudentBudgets, WorkerPool
from autograder.classroom.policy.model import Policy
from autograder.classroom.scoring import class_document
from autograder.classroom.scoring.class_document import AttemptFile, GradedClass
from autograder.classroom.scoring.student_scores import StudentDecisions
from autograder.classroom.storage import gradebook, result_store, run_records
from autograder.classroom.storage.result_store import JournalEntry, ResultStore
from autograder.classroom.submissions import class_archive, intake, roster, sources
from autograder.classroom.submissions.merge_students import merge_students
from autograder.classroom.submissions.model import ClassMember, Source, Student
from autograder.classroom.submissions.student_names import StudentNames
from autograder.core.files import report_write_error
from autograder.core.versions import torch_version
from autograder.course import Curriculum
from autograder.documents.reading import Document
from autograder.engine import session
from autograder.errors import UsageError, missing_package
from autograder.report.grading_progress import GradingProgress
from autograder.sandbox.packages import allowed_packages
from autograder.sandbox.policy import UNSAFE, SandboxPolicy
from autograder.sandbox.probe import require_level

REFRESH_SECONDS = 5.0
_WITHOUT_SANDBOX = (
    f". To run submissions with your own privileges, able to read your files and use your network: --{UNSAFE}"
)


@dataclass(frozen=True)
class GradingPlan:
    """All that one run depends on besides the submissions and the results that are stored already."""

    sources: Sequence[Source]
    out: Path
    policy: Policy
    curriculum: Curriculum
    seed: int  # of the inputs
    processes: int = 1  # that grade at once
    unsafe: bool = False  # grade without a sandbox
    force: bool = False  # also grade submissions that have a current result
    only: tuple[str, ...] = ()  # the students to grade, by any of their names; empty for all
    course: Path | None = None  # the policy's file, which the next run finds again
    roster: Path | None = None
    partial: bool = False  # accept that most people on the roster have no submission
    cluster: str = ""  # address of a Dask scheduler whose workers grade; empty to grade on this machine

    def options(self, sources: Iterable[Source]) -> session.Options:
        """Return how the submissions of some of the sources are checked."""
        policy, selected = self.policy, {name for source in sources for name in source.functions}
        in_order = tuple(filter(selected.__contains__, self.curriculum.functions))
        return session.Options(
            None if len(selected) == len(self.curriculum.functions) else in_order, self.seed,
            policy.limits.sandbox_limits(), self.curriculum,
            official=not policy.own_prerequisites, is_hidden=policy.is_hidden,
        )  # fmt: skip


_Place = tuple[Path, tuple[str, ...]]  # a source's folder and assignments
OnProgress = Callable[[GradingProgress], None]


@dataclass
class _Term:
    """The submissions of a term: those of this run, and those of earlier runs, whose files are not read."""

    sources: list[Source]
    members: dict[str, list[ClassMember]]  # by source
    students: list[Student]
    roster: list[roster.RosterEntry] | None
    new: list[Source]  # the sources of this run
    warnings: list[str]


def run(plan: GradingPlan, on_progress: OnProgress) -> tuple[Document, list[GradeChange]]:
    """Grade the submissions that have no current result; write results and class document.

    Returns the class document, and the scores that have changed.

    The results of other sources that were graded into the same folder stay; without any source, only the policy, the
    roster and the document change.

    Raises UsageError if there is nothing to grade, the folder cannot be written, or this machine has no sandbox.
    """
    started, out = time.perf_counter(), plan.out
    class_guards.require_separate_folders(plan.sources, out)
    with class_archive.unpacked(plan.sources, plan.curriculum) as (unpacked, archive_warnings):
        if not unpacked and not out.is_dir():
            raise UsageError(f"no such folder: {out}. Name the submissions: headway grade DIR --out {out}")
        unpacked = sources.split_as_before(run_records.read_submissions(out).sources, unpacked)
        members = {_place(source): sources.read_source(source, plan.curriculum, out) for source in unpacked}
        entries = roster.read_roster(plan.roster) if plan.roster is not None else None
        with result_store.locked(out) as record_scratch, ResultStore(out) as store:
            records = comment_records.read(out)
            term = _term(unpacked, members, entries, records, out)
            if not plan.partial:
                size = len(term.roster or ())
                class_guards.require_most_of_roster(term.students, term.new, size)
                if plan.roster is not None:
                    class_guards.require_submissions_from_roster(term.students, size)
            names = StudentNames(term.students)
            only = {names.require(name, "--only") for name in plan.only} if plan.only else None
            group = GradedClass(term.sources, term.students, plan.policy, plan.curriculum, plan.seed, store.entries)
            graded_class, warnings = score.with_decisions(group, records)
            new = {source.name for source in term.new}
            class_guards.require_same_class(graded_class, new, store)  # before anything of another is overwritten
            before = _Before.read(out, store)
            _write_records(term, plan)
            tasks = list(_tasks(graded_class, store, plan, term.new, only))
            if tasks and not plan.cluster:
                _require_torch(plan)
            recorder = _Recorder(graded_class, store, on_progress, tasks, new, started, before)
            unknown_dates = class_guards.warn_of_unknown_dates(graded_class)
            for warning in [*archive_warnings, *term.warnings, *warnings, *unknown_dates]:
                recorder.warn(warning)
            try:
                if tasks:
                    _grade(tasks, plan, plan.options(term.new), recorder, record_scratch)
                for warning in class_guards.warn_of_wrong_folders(graded_class, term.new):
                    recorder.warn(warning)
            finally:
                document, changes = recorder.score()
    return document, changes


def _write_records(term: _Term, plan: GradingPlan) -> None:
    """Write what later runs and commands need to know of this one."""
    out, stored = plan.out, run_records.read_settings(plan.out).seed
    if plan.policy.seed is None and stored not in (None, plan.seed):
        raise UsageError(f"another run has just drawn a seed for {out}. Run the same command again")
    with report_write_error(out, result_store.ANOTHER_OUT):
        run_records.write_submissions(out, term.sources, term.members, term.students, term.roster)
        run_records.write_settings(out, plan.seed, plan.course, plan.roster)


def _grade(
    tasks: Sequence[GradingTask],
    plan: GradingPlan,
    options: session.Options,
    recorder: "_Recorder",
    record_scratch: Callable[[Path], None],
) -> None:
    """Grade on the machines of a cluster, or in processes on this one."""
    results = plan.out / result_store.RESULTS
    if plan.cluster:
        from autograder.classroom.grading.dask_cluster import DaskCluster

        options = dataclasses.replace(options, sandbox=SandboxPolicy(unsafe=plan.unsafe))
        setup = WorkerSetup(options, plan.out, plan.policy, results)
        DaskCluster(setup, plan.cluster, recorder.add, recorder.warn, recorder.budgets.next_task).run(tasks)
        return
    with scratch_folder() as scratch:
        record_scratch(scratch)
        packages = allowed_packages(plan.policy.packages.allow)
        confined = None if plan.unsafe else require_level(scratch, _WITHOUT_SANDBOX, packages)
        sandbox = confined or SandboxPolicy.unconfined(packages, unsafe=True)
        options = dataclasses.replace(options, sandbox=sandbox)
        setup = WorkerSetup(options, scratch, plan.policy, results)
        WorkerPool(setup, min(plan.processes, len(tasks)), recorder.add, recorder.budgets.next_task).run(tasks)


def _place(source: Source) -> _Place:
    return source.folder, source.assignments


def _term(
    given: Sequence[Source],
    read: Mapping[_Place, list[ClassMember]],
    entries: list[roster.RosterEntry] | None,
    records: Sequence[CommentRecord],
    out: Path,
) -> _Term:
    """Return the term after this run: stored sources, replaced or extended by the given ones."""
    stored = run_records.read_submissions(out)
    if not given and not stored.sources:
        what = "contains no results" if (out / result_store.JOURNAL).exists() else "contains no graded class"
        raise UsageError(f"{out} {what}. Name the submissions: headway grade DIR --out {out}")
    combined, warnings = sources.combine(stored.sources, given, out)
    members, new = dict(stored.members), []
    for source in combined:
        if _place(source) in read:
            members[source.name] = read[_place(source)]
            new.append(source)
    members = {source.name: members[source.name] for source in combined}
    entries = entries if entries is not None else stored.roster_entries(out)
    students = merge_students(members, entries, stored.names, comment_records.owners(records))
    return _Term(combined, members, students, entries, new, warnings)


def _require_torch(plan: GradingPlan) -> None:
    """Raise UsageError if PyTorch, which computes the answers for fresh inputs, is not installed."""
    built_in = plan.curriculum.is_built_in  # the references of other courses may not use PyTorch
    if built_in and plan.seed and torch_version() is None:
        what = "a class is graded on fresh inputs, and PyTorch computes their answers"
        instead = "Without it, grade on the public inputs, whose answers students also have: --seed 0"
        raise missing_package(what, "torch", instead=instead)


def _tasks(
    graded_class: GradedClass, store: ResultStore, plan: GradingPlan, new: Sequence[Source], only: set[str] | None
) -> Iterator[GradingTask]:
    """Yield a task for each attempt that has no current result, or for each attempt if the plan forces it.

    Only the `new` sources are graded. The newest attempts of all students come first: a student's limits may
    leave older ones out. Attempts that failed in the last run come last, so that they cannot use up the limits again
    before other attempts are graded.
    """

    def order(graded: AttemptFile) -> tuple[bool, int]:
        return graded.entry is not None and graded.entry.status == "failed", -graded.number

    settings = {"feedback": plan.policy.feedback, "hidden": plan.policy.checks.hidden, "sandboxed": not plan.unsafe}
    packages = allowed_packages(plan.policy.packages.allow).versions
    options = {source.name: plan.options([source]) for source in new}
    run_keys = {name: cache_keys.run_key(shared, packages=packages, **settings) for name, shared in options.items()}
    attempts = [
        (position, source, student.submission, member, graded)
        for source in new
        for student in graded_class.students
        if (member := student.work.get(source.name)) and (only is None or student.submission in only)
        for position, graded in enumerate(sorted(graded_class.files_of(source, member), key=order))
    ]
    number = 0
    # In rounds, each with one attempt of every student.
    for _, source, student, member, graded in sorted(attempts, key=itemgetter(0)):
        chosen = graded_class.decisions.get(student, StudentDecisions()).chosen
        files = {name: file for name, file in chosen.items() if name in source.assignments}
        entry = graded.entry
        run_key = f"{run_keys[source.name]}{sorted(files.items()) or ''}"
        if not plan.force and entry and store.is_current(graded.file, _current_key(run_key, member, graded, entry)):
            continue
        task = GradingTask(number, student, member.submission, graded.file, graded.attempt)
        yield dataclasses.replace(task, run_key=run_key, functions=options[source.name].functions, chosen=files)
        number += 1


def _current_key(run_key: str, member: ClassMember, graded: AttemptFile, entry: JournalEntry) -> str:
    """Return the key that the result of an attempt has today; files with an unchanged signature are not read."""
    signature = intake.file_signature(graded.attempt)
    if not signature or signature != entry.signature:
        entry.digest, entry.signature = intake.content_digest(intake.read_files(graded.attempt)), signature
    return cache_keys.result_key(run_key, member.submission, entry.digest)


@dataclass
class _Before:
    """What was known before the run."""

    digests: dict[str, str]  # of each submission, by its result document
    grades: dict[str, Document] = dataclasses.field(default_factory=dict)  # by assignment, of each submission
    policy: Policy | None = None

    @classmethod
    def read(cls, out: Path, store: ResultStore) -> "_Before":
        digests = {f"results/{entry.file}": entry.digest for entry in store.entries.values()}
        try:
            book = gradebook.read(out)
        except UsageError:  # There is none that can be read.
            return cls(digests)
        return cls(digests, {student["submission"]: student["assignments"] for student in book.students}, book.policy)

    def cause(self, graded: Mapping[str, str], policy: Policy, student: Document, name: str) -> Cause:
        """Return why a score differs from that before; `graded` are the digests of the submissions of this run."""
        grades: Document = student["assignments"]
        old, new = self.grades.get(student["submission"], grades).get(name), grades.get(name)
        if new and new["file"] in graded:
            is_new = self.digests.get(new["file"], "") not in ("", graded[new["file"]])
            return "submission" if is_new else "run"
        if old and new and any(old[key] != new[key] for key in ("status", "attempts", "graded_file")):
            return "submission"
        if self.policy not in (None, policy):
            return "policy"
        return "lateness" if old and new and old["late_days"] != new["late_days"] else "run"


class _Recorder:
    """Stores results as they arrive, reports progress, and rewrites the class document now and then."""

    def __init__(
        self,
        graded_class: GradedClass,
        store: ResultStore,
        on_progress: OnProgress,
        tasks: Sequence[GradingTask],
        new: Collection[str],
        started: float,
        before: _Before,
    ) -> None:
        in_run = [source for source in graded_class.sources if source.name in new]
        total = sum(1 for source in in_run for _ in graded_class.files_of_source(source))
        self._class, self._store, self._on_progress, self._started = graded_class, store, on_progress, started
        self._progress = GradingProgress(len(tasks), total - len(tasks))
        self._write_again_at = time.monotonic() + REFRESH_SECONDS
        self._before, self._graded = before, dict[str, str]()  # the digests of this run, by result document
        limits = graded_class.policy.limits
        self.budgets = StudentBudgets(limits.student_seconds, limits.sandbox_limits(), self._leave_out)
        on_progress(self._progress)

    def add(self, task: GradingTask, entry: JournalEntry) -> None:
        self.budgets.charge(task, entry.charged_seconds)
        self._store.add(entry)
        self._graded[f"results/{entry.file}"] = entry.digest
        self._progress.done += 1
        self._progress.name, self._progress.problem = task.name, entry.problem
        self._on_progress(self._progress)
        started = time.monotonic()
        if started > self._write_again_at:
            with report_write_error(self._store.out, result_store.ANOTHER_OUT):
                class_document.write(self._store.out, self._class.document(time.perf_counter() - self._started))
            # Writing the document of a large class takes seconds.
            self._write_again_at = time.monotonic() + max(REFRESH_SECONDS, 20 * (time.monotonic() - started))

    def _leave_out(self, task: GradingTask) -> None:
        self._class.left_out[task.student] += 1
        self._progress.done += 1
        self._on_progress(dataclasses.replace(self._progress, name=""))

    def warn(self, text: str) -> None:
        self._on_progress(dataclasses.replace(self._progress, name="", warning=text))

    def score(self) -> tuple[Document, list[GradeChange]]:
        """Write the class document, the table and the history; return the document and the scores that changed."""
        if self._class.not_begun():
            names = [assignment.name for assignment in self._class.assignments()]
            only = f"Only {', '.join(names)} {'counts' if len(names) == 1 else 'count'}"
            hint = "To choose: --assignment, or [assignments.NAME] in course.toml"
            self.warn(f"{only}: no student has submitted any other assignment. {hint}")
        document = self._class.document(time.perf_counter() - self._started)
        cause_of = partial(self._before.cause, self._graded, self._class.policy)
        return document, score.write(self._store.out, document, cause_of)

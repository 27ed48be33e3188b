"""Grade a class: who handed in what, what of it is already graded, the rest through grading processes."""

import dataclasses
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from autograder.classroom import cache_keys, class_document, result_store, student_exceptions
from autograder.classroom.class_document import GradedClass
from autograder.classroom.policy import Policy
from autograder.classroom.result_store import JournalEntry, ResultStore
from autograder.classroom.submissions import intake, layouts, roster
from autograder.classroom.submissions.model import Attempt, ClassMember
from autograder.classroom.worker import GradingTask, WorkerSetup
from autograder.classroom.worker_pool import WorkerPool
from autograder.core.text import counted
from autograder.core.versions import torch_version
from autograder.curriculum import registry
from autograder.engine import session
from autograder.errors import UsageError, missing_package
from autograder.sandbox import UNSAFE, SandboxPolicy, SandboxUnavailable, strongest_level

REFRESH_SECONDS = 5.0


@dataclass(frozen=True)
class RunOptions:
    """What is particular to this run.

    Attributes:
        processes: how many grade at once.
        unsafe: grade without a sandbox.
        force: grade again what is already graded.
        only: the students to grade, by any of their names; empty: everybody.
        modules: the assignments to grade.
        roster: a CSV file; None if there is none.
        cluster: address of a Dask scheduler whose workers grade; empty: this machine does.
    """

    processes: int = 1
    unsafe: bool = False
    force: bool = False
    only: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    roster: Path | None = None
    cluster: str = ""


@dataclass
class GradingProgress:
    """How far a run is; given to `seen` at the start, after each result and at the end."""

    todo: int
    reused: int
    done: int = 0
    entry: JournalEntry | None = None
    name: str = ""
    warning: str = ""


def grade(
    folder: Path,
    out: Path,
    options: session.Options,
    policy: Policy,
    plan: RunOptions,
    seen: Callable[[GradingProgress], None],
) -> dict[str, Any]:
    """Grade every submission in `folder` that is not graded yet, and write results, class and table to `out`.

    Args:
        options: how to check; the seed in it is not looked at, see `ResultStore.seed`.
        policy: what is known of the course; its seed is the wanted one, if there is one.
        seen: told how far the run is.

    Returns:
        the class document.

    Raises:
        UsageError: if there is nothing to grade, `out` cannot be written, or the sandbox would be too weak.
    """
    students = layouts.read_class_members(folder, options.curriculum, policy.layout, plan.modules, out=out)
    if plan.roster is not None:
        students = roster.join(students, roster.read(plan.roster))
    only = _chosen(students, plan.only)
    ruled, for_nobody = student_exceptions.exceptions_by_submission(policy.exceptions, students)
    started = time.perf_counter()
    with result_store.locked(out) as remember:
        results = ResultStore(out)
        results.open()
        try:
            group = GradedClass(students, policy, options.curriculum, plan.modules, 0, exceptions=ruled)
            _require_its_own(group, results)  # before anything of another class is changed, its seed too
            group.seed = results.seed(policy.seed)
            options = dataclasses.replace(options, seed=group.seed)
            key = cache_keys.run_key(
                options, feedback=policy.feedback, hidden=policy.checks.hidden, sandboxed=not plan.unsafe
            )
            units = list(_to_grade(group, results, key, plan.force, only))
            if units and not plan.cluster:
                _require_torch(options)
            keeper = _Recorder(group, results, seen, len(units), started)
            keeper.start()
            for warning in (*for_nobody, _undated(students, policy)):
                if warning:
                    keeper.warn(warning)
            try:
                setup = WorkerSetup(options, out, key, policy.feedback, policy, results.results)
                if units and plan.cluster:
                    _on_a_cluster(setup, units, plan, keeper)
                elif units:
                    with private_scratch() as scratch:
                        remember(scratch)
                        sandboxed_options = dataclasses.replace(options, sandbox=sandbox_for(scratch, plan.unsafe))
                        setup = dataclasses.replace(setup, options=sandboxed_options, scratch=scratch)
                        WorkerPool(setup, min(plan.processes, len(units)), keeper.done).run(units)
            finally:
                document = keeper.finish()
        finally:
            results.close()
    return document


def _require_its_own(group: GradedClass, results: ResultStore) -> None:
    """Two classes in one folder would take each other's table and seed.

    Raises:
        UsageError: if there are results, and none is of anybody in this class.
    """
    there = {_whose(file) for file in results.entries}
    here = {_whose(file) for student in group.students for _, _, file in group.files_of(student)}
    if there and here and there.isdisjoint(here):
        raise UsageError(
            f"{results.out} holds the results of another class ({counted(len(there), 'submission')}, as "
            f"{sorted(there)[0]!r}). Name another folder: --out DIR"
        )


def _whose(file: str) -> str:
    """Whose document it is, whichever attempt was graded."""
    return unquote(re.sub(r"(#\d+)?\.json$", "", file))


def _undated(students: Sequence[ClassMember], policy: Policy) -> str:
    """A due date that cannot be held against anybody is not passed over in silence."""
    if not any(one.due for one in policy.assignments.values()):
        return ""
    handed_in = [student for student in students if student.attempts]
    unknown = sum(any(not one.times and one.late is None for one in student.attempts) for student in handed_in)
    if not unknown:
        return ""
    return (
        f"When it was handed in is not known of {unknown} of {counted(len(handed_in), 'submission')}: "
        "they count as in time. Gradescope and nbgrader tell the date, Canvas what is late."
    )


def _require_torch(options: session.Options) -> None:
    """Before the first submission, not in the middle of a class.

    Raises:
        UsageError: if the inputs are fresh and nobody can say what is right for them.
    """
    own = options.curriculum.package == registry.BUILT_IN  # another course's references may do without
    if own and options.seed and torch_version() is None:
        raise missing_package(
            "a class is graded on fresh inputs, and their right answers come from PyTorch",
            "torch",
            instead="Without it there are the public inputs, whose answers every student has, too: --seed 0",
        )


def _on_a_cluster(setup: WorkerSetup, units: list[GradingTask], plan: RunOptions, keeper: "_Recorder") -> None:
    from autograder.classroom.dask_cluster import DaskCluster

    setup = dataclasses.replace(
        setup, options=dataclasses.replace(setup.options, sandbox=SandboxPolicy(unsafe=plan.unsafe))
    )
    DaskCluster(setup, plan.cluster, keeper.done, keeper.warn).run(units)


def _chosen(students: Sequence[ClassMember], only: tuple[str, ...]) -> set[str] | None:
    """The submissions of the students that were named.

    Raises:
        UsageError: for a name that nobody has, with the nearest one, and for one that several have.
    """
    if not only:
        return None
    names, found = roster.StudentNames(students), set()
    for name in only:
        whose = names.find(name, "--only")
        if whose is None:
            raise UsageError(names.unknown(name))
        found.add(whose)
    return found


def _to_grade(
    group: GradedClass, results: ResultStore, key: str, force: bool, only: set[str] | None
) -> Iterator[GradingTask]:
    number = 0
    for student in group.students:
        if only is not None and student.submission not in only:
            continue
        for _, attempt, file in group.files_of(student):
            entry = results.entries.get(file)
            if not force and entry and results.is_there(file, _key_now(key, student, attempt, entry)):
                continue
            yield GradingTask(number, student.submission, file, attempt)
            number += 1


def _key_now(run: str, student: ClassMember, attempt: Attempt, entry: JournalEntry) -> str:
    """The key that a result of what lies there now would have."""
    signature = intake.signature(attempt)
    if not signature or signature != entry.signature:
        entry.digest, entry.signature = intake.digest(intake.read_files(attempt)), signature
    return cache_keys.result_key(run, student.submission, entry.digest)


class _Recorder:
    """Writes down what comes in, and keeps the class document fresh."""

    def __init__(
        self,
        group: GradedClass,
        results: ResultStore,
        seen: Callable[[GradingProgress], None],
        todo: int,
        started: float,
    ) -> None:
        total = sum(len(group.files_of(student)) for student in group.students)
        self._group, self._results, self._seen, self._started = group, results, seen, started
        self._progress = GradingProgress(todo, total - todo)
        self._written = time.monotonic()

    def start(self) -> None:
        """Say how much there is to do."""
        self._seen(self._progress)

    def done(self, unit: GradingTask, entry: JournalEntry) -> None:
        """Take one result."""
        self._results.add([entry])
        self._progress.done += 1
        self._progress.entry, self._progress.name = entry, unit.name
        self._seen(self._progress)
        if time.monotonic() - self._written > REFRESH_SECONDS:
            self._write()
            self._written = time.monotonic()

    def warn(self, text: str) -> None:
        """Something that an instructor should know now."""
        self._seen(dataclasses.replace(self._progress, entry=None, warning=text))

    def finish(self) -> dict[str, Any]:
        """Write the class, as it is now."""
        document = self._write()
        class_document.write_csv(self._results.out, document, self._results.entries)
        return document

    def _write(self) -> dict[str, Any]:
        self._group.seconds = time.perf_counter() - self._started
        document = self._group.document(self._results.entries)
        class_document.write(self._results.out, document)
        return document


@contextmanager
def private_scratch() -> Iterator[Path]:
    """A folder for copies of submissions that its owner can use, but nobody can list: see `sandbox/probe.py`."""
    with tempfile.TemporaryDirectory(prefix="headway-") as name:
        where = Path(name).resolve()
        where.chmod(0o300)
        try:
            yield where
        finally:
            where.chmod(0o700)


def sandbox_for(scratch: Path, unsafe: bool) -> SandboxPolicy:
    """The strongest sandbox that holds on this machine.

    Raises:
        UsageError: if there is none.
    """
    if unsafe:
        return SandboxPolicy(unsafe=True)
    try:
        return strongest_level(scratch)
    except SandboxUnavailable as error:
        raise UsageError(
            f"this machine has no sandbox for untrusted code ({error}). See what is missing: headway doctor. "
            f"Submissions that may read your files and use your network are graded with --{UNSAFE}"
        ) from None

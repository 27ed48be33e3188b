"""Run jobs with the checks that pytest has collected."""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from autograder.core import interpreter
from autograder.core.text import clean
from autograder.course import registry
from autograder.documents.results import DIAGNOSED, CheckResult, hide
from autograder.engine.check_results import build_check_result
from autograder.engine.fixtures import CONTEXT, CheckContext, check_id, check_name, direct_call, function_name
from autograder.engine.jobs import Job, JobResult, Options
from autograder.engine.official_solutions import official_prerequisites
from autograder.engine.official_time import OfficialTimes
from autograder.engine.reference import Reference
from autograder.engine.student import UNANSWERED, RecordedCheck, StudentCode
from autograder.errors import Cancelled, UsageError, Verdict
from autograder.sandbox.limits import Limits
from autograder.sandbox.student_process import ResourceUsage
from autograder.sandbox.workers import Workers

# Limits the answers of one job that are recorded for the diagnosis. All correct answers of the course take 2 MiB; a
# hostile submission could fill the grader's memory with the largest allowed answer for each check.
MAX_RECORDED_BYTES = 32 << 20


@dataclass
class JobRunner:
    """Runs jobs with the checks that pytest has collected: collection is paid once, not for each submission."""

    workers: Workers
    options: Options
    main: Callable[["JobRunner"], object]  # called once, inside pytest's run loop, with this runner; runs its jobs
    limits: Limits = field(init=False)  # of the current submission
    usage_error: UsageError | None = field(default=None, init=False)  # why the session ended early, if it did
    _cancelled: threading.Event = field(default_factory=threading.Event, init=False)
    _items: dict[str, list[pytest.Item]] = field(default_factory=dict, init=False)  # collected checks, by assignment
    _result: JobResult = field(default_factory=JobResult, init=False)  # of the current job
    _received_before: int = field(default=0, init=False)  # bytes of answers that earlier jobs of the submission got
    _session: pytest.Session = field(init=False)

    def __post_init__(self) -> None:
        self.limits, self._curriculum = self.options.limits, self.options.curriculum
        self._official_times = OfficialTimes(self.workers, self._curriculum, self.limits)
        reference = self.options.reference or Reference.of_course(self._curriculum.package)
        self._context = CheckContext(reference, self.options.seed, self._curriculum)

    def start(self, session: pytest.Session) -> None:
        """Take over the checks that `session` has collected, and call `main`."""
        self._session = session
        self._add_items(session.items)
        session.config.stash[CONTEXT] = self._context
        scratch = self.workers.sandbox.submissions_root
        with closing(self._official_times), official_prerequisites(self._curriculum, scratch) as self._folder_before:
            self.main(self)

    def cancel(self) -> None:
        """From another thread: make the current job raise `Cancelled`, even from a loop in student code."""
        self._cancelled.set()
        if process := self._context.process:
            process.interrupt()

    def seconds_left(self) -> float | None:
        """From another thread: return roughly how long the current call may still take; None if no call is running."""
        return process.seconds_left if (process := self._context.process) else None

    def clear_cancellation(self) -> None:
        """Allow jobs to run again after `cancel`."""
        self._cancelled.clear()

    def run(self, job: Job) -> JobResult:
        """Run the checks of one job; raise Cancelled as soon as possible after `cancel`."""
        self._context.looks_for_causes = self.options.diagnose and job.diagnose
        is_hidden = self.options.is_hidden
        result = self._result = JobResult()
        self._received_before = job.usage.received
        items = self._items_of(job)
        position = {check_id(item): index for index, item in enumerate(items)}
        # What student code could remember of a hidden check, it could print in a visible one. Hidden checks run last,
        # in other processes, so that nothing in memory or in a file can reach a visible check, or what is said of it.
        self._run_checks([item for item in items if not is_hidden(check_id(item))], job)
        if self._context.looks_for_causes:
            self._diagnose(result, job.usage, official_prerequisites=job.official)
        result.recorded.clear()  # Answers may be large.
        if not job.visible_only:
            self._run_checks([item for item in items if is_hidden(check_id(item))], job)
        result.checks = hide(sorted(result.checks, key=lambda check: position[check.id]), is_hidden)
        return result

    def _run_checks(self, items: list[pytest.Item], job: Job) -> None:
        """Run checks of a job, in processes of their own."""
        student, official, item = None, None, None
        next_items = dict(pairwise(item for item in items if direct_call(item) is None))
        try:
            for item in items:
                wanted = self._folder_before(function_name(item).partition(".")[0]) if job.official else None
                if student is None or wanted != official:
                    official, limits, times = wanted, self.limits, self._official_times.cpu_seconds
                    student = StudentCode(
                        self.workers, job.folder, self._curriculum, limits, job.usage, times, official
                    )
                    self._context.set_student(student)
                if (call := direct_call(item)) is None:
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_items.get(item))
                else:
                    self._context.begin_check(function_name(item), check_name(item))
                    ends = (pytest.exit.Exception, KeyboardInterrupt)
                    self.record(item, pytest.CallInfo.from_call(call, "call", ends))
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
                if self._cancelled.is_set():
                    raise Cancelled
        except BaseException:
            if item is not None:  # The next job may begin with any check: tear down what was kept for the next one.
                item.ihook.pytest_runtest_teardown(item=item, nextitem=None)
            raise
        finally:
            self._context.set_student(None)

    def record(self, item: pytest.Item, call: "pytest.CallInfo[None]") -> CheckResult | None:
        """Record one phase of a check: its result if it was the call, and an internal error of Headway."""
        error = call.excinfo.value if call.excinfo else None
        result, is_hidden = None, self.options.is_hidden(check_id(item))
        if call.when == "call":
            student, function = self._context.student, self._context.function
            result = build_check_result(item, student, function, error, self._curriculum.package)
            if self.options.keep_calls and error is not None and not is_hidden:
                result.calls = tuple(student.calls)
            self._result.checks.append(result)
            answered = all(call.value is not UNANSWERED or call.exception for call in student.calls)
            if answered and not is_hidden and student.usage.received - self._received_before <= MAX_RECORDED_BYTES:
                recorded = RecordedCheck(result.id, result.status == "passed", tuple(student.calls), student.seconds)
                self._result.recorded.setdefault(function.qualified, []).append(recorded)
        if isinstance(error, UsageError):  # The other checks would raise it, too.
            self.usage_error = error
            item.session.shouldstop = "usage error"
        elif error is not None and not isinstance(error, (Verdict, AssertionError)):
            what = "the check is hidden" if is_hidden else f"{type(error).__name__}: {clean(error, 300)}"
            self._result.problems.append(f"{item.nodeid}: {what}")
        return result

    def _add_items(self, items: list[pytest.Item]) -> None:
        for item in items:
            self._items.setdefault(function_name(item).partition(".")[0], []).append(item)

    def _items_of(self, job: Job) -> list[pytest.Item]:
        """Return the checks of a job in the order of the curriculum; collect those that no job has needed before."""
        if (functions := job.functions) is None:
            return [item for items in self._items.values() for item in items]
        selected = {function.partition(".")[0] for function in functions}
        modules = [name for name in self._curriculum.modules if name in selected]
        if missing := [name for name in modules if name not in self._items]:
            failed_before, package = self._session.testsfailed, self._curriculum.package
            checks = [check for name in missing for check in registry.check_modules(name, package)]
            self._session.perform_collect(checks)
            if self._session.testsfailed != failed_before:
                raise self._session.Interrupted("errors during collection")
            self._add_items(self._session.items)
        return [item for name in modules for item in self._items.get(name, []) if function_name(item) in functions]

    def _diagnose(self, result: JobResult, usage: ResourceUsage, *, official_prerequisites: bool) -> None:
        """Add to failed checks the known mistakes that give the student's answers."""
        wrong = dict.fromkeys(check.function for check in result.checks if check.status in DIAGNOSED)
        if not wrong:
            return
        from autograder.engine.diagnosis.diagnose import diagnose

        def is_cancelled() -> bool:
            return bool(self.options.on_search()) or self._cancelled.is_set()

        not_passed = {check.function for check in result.checks if check.status != "passed"}
        for function in wrong:
            is_first = not_passed.isdisjoint(self._curriculum.all_prerequisites(function))
            if official_prerequisites or is_first:
                recorded = result.recorded.get(function, [])
                left = self.limits.grader_seconds - usage.grader_seconds - usage.official_seconds
                if left <= 0:
                    limit = f"the grader's limit of {self.limits.grader_seconds:g} s of CPU time is used up"
                    result.notes.append(f"not all mistakes were looked for: {limit}")
                    break
                started = interpreter.cpu_seconds()
                package = self._curriculum.package
                diagnoses = diagnose(
                    function, recorded, package, thorough=is_first, seconds=left, is_cancelled=is_cancelled
                )
                usage.grader_seconds += interpreter.cpu_seconds() - started
                for check in result.checks:
                    if check.id in diagnoses:
                        check.mistake = diagnoses[check.id].as_record()

"""Mark failed checks as blocked when another wrong function explains them."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.core.archives import SkippedFile
from autograder.core.files import secret_folder
from autograder.course import CACHES
from autograder.documents.results import CheckResult, Status, SubmissionResult
from autograder.engine.jobs import Job, JobResult, Options
from autograder.engine.official_solutions import copy_with_official_functions
from autograder.sandbox.source_reader import SourceReader
from autograder.sandbox.student_process import ResourceUsage

MAX_BYTES = 1 << 20  # Larger modules are not parsed: nobody writes them by hand.


class BlockedChecks:
    """Decides which failed checks of a submission are caused by another function.

    Where that decides the question, re-runs checks with official functions in place of the student's, which it copies
    to temporary folders. Untrusted code never runs beside official functions of the same assignment, which
    it could read.
    """

    def __init__(
        self,
        folder: Path,
        options: Options,
        run_job: Callable[[Job], JobResult],
        reader: SourceReader,
        usage: ResourceUsage,
    ) -> None:
        self._folder, self._curriculum, self._run_job, self._reader = folder, options.curriculum, run_job, reader
        self._scratch = options.sandbox.submissions_root
        self._untrusted = bool(options.sandbox.mechanisms) or options.sandbox.unsafe
        self._calls: dict[str, dict[str, set[str]]] = {}  # by module, so that each is parsed once
        self._usage = usage  # of the submission, whose limits the re-runs share
        self.notes: list[str] = []  # what was left out because a limit was used up

    def mark(self, result: SubmissionResult, selected: Iterable[str], known: Mapping[str, Status]) -> None:
        """Set the status of blocked checks in `result`, in place.

        It holds the checks of the `selected` functions; those whose status is `known` need not be checked again.
        """
        selected = set(selected)
        not_passed = {check.function for check in result.checks if check.status != "passed"}
        not_passed |= {function for function, status in known.items() if status != "passed"} - selected
        if not result.official_prerequisites:
            not_passed |= self._failed_prerequisites(result, {*selected, *known})
        self._block_by_prerequisites(result, not_passed)
        if not result.official_prerequisites:
            self._block_by_called_functions(result, not_passed)
        _block_without_correct_answer(result.checks)
        if not result.official_prerequisites:
            self._note_correct_in_isolation(result)

    def _failed_prerequisites(self, result: SubmissionResult, known: set[str]) -> set[str]:
        """Return the prerequisites of failed functions that do not pass, among those whose status is not known."""
        failed = {check.function for check in result.checks if check.status in ("failed", "error", "timeout")}
        needed = {need for function in failed for need in self._curriculum.all_prerequisites(function)}
        for function in failed:
            needed = needed.union(*self._called_by(function))
        checks = self._rerun(self._folder, needed - known).checks if needed - known else []
        return {check.function for check in checks if check.status != "passed"}

    def _rerun(self, folder: Path, functions: Iterable[str], **options: Any) -> JobResult:
        found = self._run_job(Job(folder, frozenset(functions), visible_only=True, usage=self._usage, **options))
        self.notes += found.notes
        return found

    def _called_by(self, function: str) -> tuple[list[str], list[str]]:
        """Return the functions that the student's function calls by name: of the same assignment, and of earlier ones.

        It may call others than its prerequisites: an encoder block can be a block.
        """
        module, _, name = function.partition(".")
        called, own = self._calls_in(module).get(name, set()), self._curriculum.modules[module]
        others = called - set(self._curriculum.function_names[module])
        earlier = (other for other in self._curriculum.assignments if other.number < own.number)
        return (
            [other.qualified for other in own.functions if other.name in called],
            [other.qualified for assignment in earlier for other in assignment.functions if other.name in others],
        )

    def _calls_in(self, module: str) -> dict[str, set[str]]:
        if module not in self._calls:
            self._calls[module] = {}  # If the code cannot be read, nothing is known of it.
            path = self._folder / f"{module}.py"
            with contextlib.suppress(OSError, SkippedFile):
                if path.stat().st_size <= MAX_BYTES:
                    names = list(dict.fromkeys(function.name for function in self._curriculum.functions.values()))
                    self._calls[module] = self._reader.used_functions(path.read_bytes(), names)
        return self._calls[module]

    def _unused_prerequisites(self, function: str) -> set[str]:
        """Return prerequisites that the student's function does without, so that they cannot be at fault.

        Only prerequisites of the same assignment, where the code shows it. A function that returns a cache is called by
        the check itself, and so counts as used.
        """
        module, _, name = function.partition(".")
        if name not in self._calls_in(module):  # The code could not be read, or does not define the function.
            return set()
        called, _ = self._called_by(function)
        needs = (self._curriculum.functions[need] for need in self._curriculum.all_prerequisites(function))
        unused = (need for need in needs if need.module == module and need.qualified not in called)
        return {need.qualified for need in unused if all(output.name not in CACHES for output in need.outputs)}

    def _block_by_prerequisites(self, result: SubmissionResult, not_passed: set[str]) -> None:
        """Turn failures of functions whose prerequisites fail into `blocked`, naming the prerequisites.

        A check that passes although a prerequisite fails stays passed: the function does not depend on it.
        """
        for check in result.checks:
            module = check.function.partition(".")[0]
            if check.failure != "slow_import" and check.file_at_fault == f"{module}.py":
                continue  # No other function can be the cause.
            if check.status in ("failed", "error", "timeout"):
                needs = not_passed - self._unused_prerequisites(check.function)
                _, earlier = self._called_by(check.function)
                candidates = dict.fromkeys([*self._curriculum.all_prerequisites(check.function), *earlier])
                blocked_by = [name for name in candidates if name in needs]
                if result.official_prerequisites:  # Then only functions of the same module can be at fault.
                    blocked_by = [name for name in blocked_by if name.startswith(f"{module}.")]
                if blocked_by:
                    _block(check, blocked_by, f"blocked by {', '.join(blocked_by)}. {check.message}")

    def _block_by_called_functions(self, result: SubmissionResult, not_passed: set[str]) -> None:
        """Block failed checks that pass with official functions in place of the wrong ones that they call.

        A `log_softmax` may call a wrong `softmax` although it does not need to: running it with the official `softmax`
        shows whether it is correct in isolation.
        """
        failed = [check for check in result.checks if check.status in ("failed", "error")]
        for function in dict.fromkeys(check.function for check in failed):
            called = [name for name in self._called_by(function)[0] if name in not_passed]
            if not called:
                continue
            module, _, name = function.partition(".")
            if self._untrusted:
                advice = f"{name} calls {', '.join(called)}, which may be the cause: fix that first"
                for check in failed:
                    if check.function == function:
                        check.help = "; ".join(filter(None, [check.help, advice]))
                continue
            with secret_folder(self._scratch) as copy:
                names = [other.partition(".")[2] for other in called]
                copy_with_official_functions(copy, self._folder, module, names, self._curriculum.package)
                reruns = {check.id: check for check in self._rerun(copy, [function]).checks}
            for check in failed:
                if check.id in reruns and reruns[check.id].status == "passed":
                    _block(check, called, _correct_in_isolation(called))
                    check.mistake = check.help = None
                elif check.id in reruns:
                    check.mistake = reruns[check.id].mistake
                    if check.mistake is not None:
                        found = f"found with the official {', '.join(called)} in place of yours"
                        check.mistake = {**check.mistake, "reason": f"{found}: {check.mistake['reason']}"}

    def _note_correct_in_isolation(self, result: SubmissionResult) -> None:
        """Re-run checks that are blocked by another function with official solutions, and note those that pass."""
        blocked = [c for c in result.checks if c.status == "blocked" and c.function not in c.blocked_by]
        checks = {check.id: check for check in blocked if check.was_wrong or not check.sees_answers}
        if not checks:
            return
        functions = {check.function for check in checks.values()}
        rerun = self._rerun(self._folder, functions, official=True, diagnose=False)
        _block_without_correct_answer(rerun.checks)
        for check in rerun.checks:
            if check.id in checks and check.status == "passed":
                blocked_check = checks[check.id]
                blocked_check.message, blocked_check.help = _correct_in_isolation(blocked_check.blocked_by), None


def _block_without_correct_answer(checks: Iterable[CheckResult]) -> None:
    """Block passed checks that see no answers of a function without a correct answer: `return None` earns nothing."""
    checks, answer_checks = list(checks), dict[str, list[CheckResult]]()
    for check in checks:
        if check.sees_answers:
            answer_checks.setdefault(check.function, []).append(check)
    for check in checks:
        others = answer_checks.get(check.function, [])
        if check.status == "passed" and not check.sees_answers and others and all(o.status != "passed" for o in others):
            needs = next((other.blocked_by for other in others if other.blocked_by), [check.function])
            _block(check, needs, "counts as soon as another check of this function passes")


def _block(check: CheckResult, needs: list[str], message: str) -> None:
    check.status, check.earned, check.blocked_by, check.message = "blocked", 0.0, needs, message


def _correct_in_isolation(needs: Iterable[str]) -> str:
    return f"correct in isolation; blocked only by {', '.join(needs)}"

"""What waits for something else: a wrong prerequisite, a wrong function used without need, a first right answer."""

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.curriculum import CACHE, Curriculum
from autograder.engine.prerequisites import OfficialPrerequisites, used_within, with_stand_ins
from autograder.results import CheckResult, Status, SubmissionResult
from autograder.sandbox import ResourceUsage

if TYPE_CHECKING:
    from autograder.engine.pytest_plugin import Job, Outcome


class Blocking:
    """Finds out what is blocked in one submission as it is now, where needed by checking again.

    Args:
        folder: the submission.
        scratch: where folders with official solutions are made (see `OfficialPrerequisites`).
        do: runs the checks of a job.
    """

    def __init__(
        self, folder: Path, curriculum: Curriculum, scratch: Path | None, do: "Callable[[Job], Outcome]"
    ) -> None:
        self._folder = folder
        self._uses: dict[str, dict[str, set[str]]] = {}  # by module: each is parsed once
        self._curriculum = curriculum
        self._scratch = scratch
        self._do = do
        self._spent = ResourceUsage()  # all that is checked again may together use as much as the submission itself

    def mark(self, result: SubmissionResult, selected: Iterable[str], known: Mapping[str, Status]) -> None:
        """Block what waits for something else.

        Args:
            result: of the `selected` functions; changed in place.
            known: status of functions that need not be checked again.
        """
        selected = set(selected)
        wrong = {function for function, status in known.items() if status != "passed"}
        if not result.official_prerequisites:
            wrong |= {check.function for check in self._prerequisites(result, {*selected, *known})}
        mark_blocked(result, wrong - selected, self._curriculum, self._not_used)
        if not result.official_prerequisites:
            self._block_by_what_they_use(result, wrong)
        wait_for_an_answer(result.checks)
        if not result.official_prerequisites:
            self._say_what_is_right_by_itself(result)

    def _prerequisites(self, result: SubmissionResult, known: set[str]) -> list[CheckResult]:
        """Checks that do not pass of what failed functions are built on, where that is not known."""
        failed = {check.function for check in result.checks if check.status in ("failed", "error", "timeout")}
        needed = {need for function in failed for need in self._curriculum.all_needs(function)}
        needed |= {used for function in failed for used in self._used(function)}
        needed -= known
        if not needed:
            return []
        return [check for check in self._again(self._folder, needed).results if check.status != "passed"]

    def _again(self, folder: Path, functions: Iterable[str], **how: Any) -> "Outcome":
        from autograder.engine.pytest_plugin import Job

        return self._do(Job(folder, frozenset(functions), spent=self._spent, **how))

    def _used(self, function: str) -> list[str]:
        """Other functions of the same assignment that the student's function uses, although it need not."""
        module, _, name = function.partition(".")
        used = self._uses_in(module).get(name, set())
        qualified = (one.qualified for one in self._curriculum.modules[module].functions if one.name in used)
        return [one for one in qualified if one in self._curriculum.functions]

    def _uses_in(self, module: str) -> dict[str, set[str]]:
        """Which functions of a module of the student's use which others of it, as far as the code tells."""
        if module not in self._uses:
            names = [one.name for one in self._curriculum.modules[module].functions]
            self._uses[module] = used_within(self._folder / f"{module}.py", names)
        return self._uses[module]

    def _not_used(self, function: str) -> set[str]:
        """Prerequisites that the student's function does without, so that they cannot be at fault.

        Only those of the same assignment, where the code tells; what gives a cache is called by the check itself.
        """
        module, _, name = function.partition(".")
        if name not in self._uses_in(module):  # the code says nothing
            return set()
        used = set(self._used(function))
        needs = (self._curriculum.functions[name] for name in self._curriculum.all_needs(function))
        return {
            need.qualified
            for need in needs
            if need.module == module
            and need.qualified not in used
            and all(output.name != CACHE for output in need.outputs)
        }

    def _block_by_what_they_use(self, result: SubmissionResult, others: Iterable[str]) -> None:
        """Block failed checks that pass with official functions in place of wrong ones that they use without need.

        A `log_softmax` that calls `softmax` is right where it is right given a right softmax; that is tried out.
        """
        wrong = {*others, *(check.function for check in result.checks if check.status != "passed")}
        failed = [check for check in result.checks if check.status in ("failed", "error")]
        for function in dict.fromkeys(check.function for check in failed):
            used = [name for name in self._used(function) if name in wrong]
            if not used:
                continue
            module = function.partition(".")[0]
            with tempfile.TemporaryDirectory(prefix="headway-", dir=self._scratch) as folder_with_stand_ins:
                names = [name.partition(".")[2] for name in used]
                with_stand_ins(Path(folder_with_stand_ins), self._folder, module, names, self._curriculum.package)
                again = {check.id: check for check in self._again(Path(folder_with_stand_ins), [function]).results}
            for check in failed:
                if check.id in again and again[check.id].status == "passed":
                    check.status, check.earned, check.blocked_by, check.mistake = "blocked", 0.0, used, None
                    check.message, check.help = _right_by_itself(used), None
                elif check.id in again:
                    check.mistake = _given(used, again[check.id].mistake)

    def _say_what_is_right_by_itself(self, result: SubmissionResult) -> None:
        """Check again what is blocked by wrong work in another assignment, with official solutions in its place."""
        blocked = [c for c in result.checks if c.status == "blocked" and c.function not in c.blocked_by]
        checks = {check.id: check for check in blocked if check.was_wrong or not check.sees_answers}
        if not checks:
            return
        with closing(OfficialPrerequisites(self._curriculum, self._scratch)) as official:
            functions = frozenset(check.function for check in checks.values())
            again = self._again(self._folder, functions, official=official.folder_for, diagnose=False)
        wait_for_an_answer(again.results)
        for check in again.results:
            if check.id in checks and check.status == "passed":
                waiting = checks[check.id]
                waiting.message, waiting.help = _right_by_itself(waiting.blocked_by), None


def mark_blocked(
    result: SubmissionResult,
    others: Iterable[str],
    curriculum: Curriculum,
    not_used: Callable[[str], Collection[str]] = lambda function: (),
) -> None:
    """Turn failures of functions whose prerequisites fail into `blocked`, naming the prerequisites.

    A check that passes although a prerequisite fails stays passed: it is right by its own means.

    Args:
        result: changed in place.
        others: prerequisites that are not part of `result` and do not pass.
        curriculum: says what needs what.
        not_used: which of those this submission's function does without.
    """
    not_passed = {*others, *(check.function for check in result.checks if check.status != "passed")}
    for check in result.checks:
        if check.status in ("failed", "error", "timeout"):
            without = not_used(check.function)
            needs = [n for n in curriculum.all_needs(check.function) if n in not_passed and n not in without]
            if result.official_prerequisites:  # then only functions of the same module can be at fault
                module = curriculum.functions[check.function].module
                needs = [name for name in needs if curriculum.functions[name].module == module]
            if needs:
                check.message = f"{', '.join(needs)} must be right first. {check.message}"
                check.status, check.blocked_by, check.earned = "blocked", needs, 0.0


def wait_for_an_answer(checks: Iterable[CheckResult]) -> None:
    """Block what passed without a look at the answers of a function that has no right one: `return None` earns 0."""
    checks, answers = list(checks), dict[str, list[CheckResult]]()
    for check in checks:
        if check.sees_answers:
            answers.setdefault(check.function, []).append(check)
    for check in checks:
        others = answers.get(check.function, [])
        if check.status == "passed" and not check.sees_answers and others and all(o.status != "passed" for o in others):
            needs = next((other.blocked_by for other in others if other.blocked_by), [check.function])
            check.message = f"this counts as soon as {check.function} gives a right answer in one of its other checks"
            check.status, check.blocked_by, check.earned = "blocked", needs, 0.0


def _right_by_itself(needs: Iterable[str]) -> str:
    return f"right by itself: with the official {', '.join(needs)} it passes, with yours it cannot yet"


def _given(official: Iterable[str], mistake: dict[str, Any] | None) -> dict[str, Any] | None:
    """What is wrong with a function itself: found out with official functions in place of those that it uses."""
    if mistake is None:
        return None
    return mistake | {"reason": f"found with the official {', '.join(official)} in place of yours: {mistake['reason']}"}

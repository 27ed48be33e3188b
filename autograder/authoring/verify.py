"""Verify a course in parallel.

Solutions pass, stubs are not started, every known mistake fails and is named, and every broken promise fails a check.
"""

import atexit
import shutil
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from autograder.authoring.promises import Promise, broken_source, find_problems, has_promises, promises_of_module
from autograder.core.current_folder import spawn_context
from autograder.core.text import counted
from autograder.core.versions import torch_version
from autograder.course import Curriculum, registry
from autograder.course.stubs import make_stubs
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.engine.diagnosis.generated import argument_mistakes
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake, mistakes_of_function, mistakes_of_module
from autograder.engine.diagnosis.mutations import mutations
from autograder.engine.diagnosis.variants import source_with_mistakes
from autograder.engine.official_solutions import copy_official_solutions, official_solutions
from autograder.engine.reference import Reference, has_current_answers
from autograder.engine.reference.memo import Memo, read_shipped, shipped_file
from autograder.engine.session import CheckSession, Options, check, run_in_session
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import start_workers
from autograder.sandbox.workers import Workers

CHANGE_SECONDS = 2.0  # of a call: a change may loop without end.
FRESH_SEED = 20_261  # Solutions and right answers are checked on these inputs, too.


@dataclass(frozen=True)
class VerifyResult:
    """The result of verifying one thing."""

    kind: str  # "rule", "answers", "solutions", "stubs", "mistake", "promise", "docstring", "right answer" or "change"
    name: str
    ok: bool  # It behaves as it should.
    text: str = ""  # what is wrong; empty if `ok`
    named: str = ""  # the id of the mistake that the diagnosis named
    broken_by: str = ""  # of a promise: the mistake or wrapper
    guards: tuple[str, ...] = ()  # of a promise or a change: the checks that fail


@dataclass(frozen=True)
class VerifyTask:
    """Everything that one process verifies at once: one function or module."""

    kind: str
    name: str
    curriculum: Curriculum = field(default_factory=registry.default)
    selected: tuple[str, ...] = ()  # the functions to verify; empty: all


def plan_tasks(
    right_answers: Path | None, curriculum: Curriculum, selected: tuple[str, ...] = (), *, changes: bool = False
) -> list[VerifyTask]:
    """Return all tasks of the selected functions, the slowest first, so that the processes end at the same time.

    The folder `right_answers` has correct modules unlike the solutions. `changes` are those that rules derive.
    """
    package = curriculum.package
    selected = selected if set(selected) != set(curriculum.functions) else ()
    modules = {name.partition(".")[0] for name in selected or curriculum.functions}
    covered = {module for module in curriculum.modules if has_promises(module, package)}
    functions = [
        function.qualified
        for function in reversed(curriculum.functions.values())
        if not selected or function.qualified in selected
        if function.module in covered or mistakes_of_function(function.qualified, package)
    ]
    mistakes = [("change", name) for name in selected or curriculum.functions if changes]
    mistakes += [("mistake", name) for name in functions]
    right = sorted(right_answers.glob("*/*.py")) if right_answers and right_answers.is_dir() else []
    shipped = [("answers", "")] if has_current_answers(package) is not None else []
    styles = [("right answer", str(path)) for path in right if path.stem in modules]
    tasks = [*shipped, ("solutions", ""), *styles, *mistakes, ("stubs", "")]
    return [VerifyTask(kind, name, curriculum, selected) for kind, name in tasks]


def verify(tasks: list[VerifyTask], processes: int = 2) -> Iterator[VerifyResult]:
    """Run all tasks, and yield their results."""
    with ProcessPoolExecutor(processes, mp_context=spawn_context()) as pool:
        for results in pool.map(run_task, tasks):
            yield from results


def run_task(task: VerifyTask) -> list[VerifyResult]:
    """Run one task."""
    if task.kind == "answers":
        return [_answers(task)]
    if task.kind == "stubs":
        return [_stubs(task)]
    if task.kind in ("solutions", "right answer"):
        return [_solutions(task, seed) for seed in (0, FRESH_SEED)]
    if task.kind == "change":
        return list(_changes(task))
    covered = promises_of_module(task.name.partition(".")[0], task.curriculum.package).get(task.name)
    known = mistakes_of_function(task.name, task.curriculum.package)
    return list(try_mistakes(task, known, covered.promises if covered else ()))


@cache
def _workers() -> Workers:
    """Return the workers of all tasks of this process: to start a server takes longer than most tasks."""
    workers = start_workers()
    atexit.register(workers.close)
    return workers


def _options(task: VerifyTask, functions: tuple[str, ...] = (), **more: Any) -> Options:
    """Return how to check `functions`, or the selected ones."""
    chosen = functions or task.selected or None
    return Options(chosen, curriculum=task.curriculum, workers=lambda _: nullcontext(_workers()), **more)


def _answers(task: VerifyTask) -> VerifyResult:
    """Return whether the answers that ship with a course are those of its references, and none is missing."""
    curriculum = task.curriculum
    build = "make regenerate"
    if not curriculum.is_built_in:
        build = f"headway verify --build-answers --curriculum {curriculum.name}"
    text = ""
    if not has_current_answers(curriculum.package):
        text = f"they are not those of the current files. Build them again: {build}"
    elif missing := _count_missing_answers(task):
        text = f"{counted(missing, 'answer')} missing. Build them: {build}"
    return VerifyResult("answers", "in answers.memo", not text, text)


def _count_missing_answers(task: VerifyTask) -> int:
    """Return how many answers to the inputs that students have are not among those that ship with the course."""
    package = task.curriculum.package
    folder = registry.folder(package)
    memo = Memo(folder)
    if torch_version() not in (None, memo.index.get("torch")):
        return 0  # Another version of PyTorch gives different answers.
    with official_solutions(task.curriculum) as solutions:
        reference = Reference(memo, package=package)
        check("solutions", solutions, _options(task, reference=reference))
    return sum(len(used.keys() - read_shipped(shipped_file(folder, m)).keys()) for m, used in memo.used.items())


def _solutions(task: VerifyTask, seed: int) -> VerifyResult:
    """Return whether the solutions pass, or a right answer in place of one of them."""
    name, selected = "", task.selected
    with tempfile.TemporaryDirectory() as folder:
        copy_official_solutions(task.curriculum, Path(folder))
        if task.name:
            path = Path(task.name)
            shutil.copyfile(path, Path(folder, path.name))
            name, selected = f"{path.parent.name}/{path.stem} ", task.curriculum.select([path.stem])
        result = check("solutions", Path(folder), _options(task, selected, seed=seed))
    wrong = [f"{check.id}: {check.message}" for check in result.checks if check.status != "passed"]
    text = "; ".join([*wrong[:5], *result.internal_errors[:5]])
    named = ", ".join(check.mistake["id"] for check in result.checks if check.mistake)
    return VerifyResult(task.kind, f"{name}seed {seed}", result.passed and not text, text, named)


def _stubs(task: VerifyTask) -> VerifyResult:
    with tempfile.TemporaryDirectory() as folder, official_solutions(task.curriculum) as solutions:
        for name in task.curriculum.given_modules:
            shutil.copyfile(solutions / f"{name}.py", Path(folder, f"{name}.py"))
        for name, text in make_stubs(solutions, task.curriculum).items():
            Path(folder, name).write_text(text, "utf-8")
        result = check("stubs", Path(folder), _options(task))
    wrong = [check.id for check in result.checks if check.status != "not_started"] + result.internal_errors
    return VerifyResult("stubs", "seed 0", not wrong, ", ".join(wrong))


def try_mistakes(task: VerifyTask, known: Sequence[Mistake], promises: Sequence[Promise]) -> Iterator[VerifyResult]:
    """Yield whether mistakes in a function are named, and whether a check fails with what breaks its promises."""
    package = task.curriculum.package
    tried = {mistake.name: mistake for mistake in known}
    guarding = {name for promise in promises for name in promise.broken_by}
    sources: dict[str, str] = {}
    for name in [*tried, *sorted(guarding - {*tried})]:
        try:
            sources[name] = broken_source(task.name, name, package)
        except BrokenMistake as error:
            yield VerifyResult("mistake", f"{task.name}/{name}", False, error.reason)
    # A mistake that only has to break a promise need not be named.
    results = _check_all(task, sources, named=tried)
    for result in results:
        if result.submission in tried:
            yield evaluate_mistake(tried[result.submission], result.checks, package)
    if has_promises(task.name.partition(".")[0], package):
        problems = find_problems(task.name, package)
        yield VerifyResult("docstring", task.name, not problems, "; ".join(problems))
    guards = {result.submission: _failed_checks(task.name, result.checks) for result in results}
    for promise in promises:
        for name in promise.broken_by:
            yield evaluate_promise(promise, name, guards.get(name, ()))


def _changes(task: VerifyTask) -> Iterator[VerifyResult]:
    """Yield the wrong changes that rules derive from a function's solution, each with the checks that fail."""
    package = task.curriculum.package
    derived = (*argument_mistakes(task.name, package), *mutations(task.name, package))
    titles, sources = {change.name: change.title.format(constant=change.constant) for change in derived}, {}
    module, _, function = task.name.partition(".")
    official = registry.solution_text(module, package).splitlines()
    for change in derived:
        with suppress(BrokenMistake):  # The rules are for any function, and some do not fit this one.
            sources[change.name] = source_with_mistakes(change, package=package)
    for result in _check_all(task, sources, limits=Limits(call_seconds=CHANGE_SECONDS)):
        guards = _failed_checks(task.name, result.checks)
        # From the end, because variants have no docstring.
        pairs = zip(reversed(official), reversed(sources[result.submission].splitlines()), strict=False)
        line = len(official) - next(number for number, (old, new) in enumerate(pairs) if old != new)
        name = f"{module}.py:{line}: {function}: {titles[result.submission]}"
        yield VerifyResult("change", name, True, guards=guards)


def _check_all(
    task: VerifyTask, sources: Mapping[str, str], named: Container[str] = (), **more: Any
) -> list[SubmissionResult]:
    """Check variants of a module on top of the official earlier assignments, and name the mistakes in some."""
    results: list[SubmissionResult] = []
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(tempfile.mkdtemp(dir=scratch)) for name in sources}
        for name, folder in folders.items():
            (folder / f"{task.name.partition('.')[0]}.py").write_text(sources[name], "utf-8")

        def check_all(session: CheckSession) -> None:
            for name, folder in folders.items():
                results.append(session.check(name, folder, (task.name,), diagnose=name in named))

        run_in_session(_options(task, (task.name,), official=True, **more), check_all)
    return results


def _failed_checks(function: str, checks: list[CheckResult]) -> tuple[str, ...]:
    return tuple(check.id for check in checks if check.function == function and check.status != "passed")


def evaluate_promise(promise: Promise, broken_by: str, guards: tuple[str, ...]) -> VerifyResult:
    """Return whether a check fails when a mistake or wrapper breaks a promise."""
    text = "" if guards else f"no check fails with {broken_by}"
    return VerifyResult("promise", f"{promise.function}: {promise.text}", bool(guards), text, "", broken_by, guards)


def evaluate_mistake(mistake: Mistake, checks: list[CheckResult], package: str) -> VerifyResult:
    """Return whether a mistake was caught, and named alone or together with its declared group."""
    failed = [check for check in checks if check.function == mistake.function and check.status != "passed"]
    if not failed:
        advice = "Add a check that it fails, or remove it"
        return VerifyResult("mistake", mistake.id, False, f"passes every check. {advice}")
    named = next((check.mistake["id"] for check in failed if check.mistake), "")
    names = named.split("|")
    others = mistakes_of_module(mistake.function.partition(".")[0], package)
    group = {other.id for other in others if other.group == mistake.group}
    ok = mistake.id in names and (len(names) == 1 or (bool(mistake.group) and set(names) <= group))
    if ok:
        text = ""
    elif named:
        text = f"named {' or '.join(names)}. If both give the same answers, remove one, or give both the same group="
    else:
        text = f"named nothing. Its code cannot be run, or its answers differ from run to run: {failed[0].message}"
    return VerifyResult("mistake", mistake.id, ok, text, named)

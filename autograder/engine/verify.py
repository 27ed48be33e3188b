"""Prove the kit: solutions pass, stubs are not started, every known mistake fails and is called by its name.

Each job is a folder of modules and the functions to check; the jobs of one function run in one pytest session, and the
functions are shared out between processes.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from autograder.curriculum import Curriculum, registry
from autograder.curriculum.stubs import make_stubs
from autograder.engine.diagnosis.mistake import BrokenMistake, Mistake, mistakes_of_function, mistakes_of_module
from autograder.engine.diagnosis.variants import source_with_mistakes
from autograder.engine.session import Options, check, check_many
from autograder.results import CheckResult, SubmissionResult

FRESH_SEED = 20_261  # beside the public inputs, solutions and right answers are checked on these


@dataclass(frozen=True)
class VerifyResult:
    """One thing that was tried.

    Attributes:
        kind: "solutions", "stubs", "mistake" or "right answer".
        name: which one.
        ok: whether it is as it should be.
        text: what was found; empty if all is well.
        named: for a mistake, the id that the diagnosis gave.
    """

    kind: str
    name: str
    ok: bool
    text: str = ""
    named: str = ""


@dataclass(frozen=True)
class VerifyTask:
    """What one process does at once: everything that is tried on one function or module."""

    kind: str
    name: str
    curriculum: Curriculum = field(default_factory=registry.default)

    @property
    def solutions(self) -> Path:
        """The folder of the course's official solutions."""
        return registry.solutions(self.curriculum.package)


def jobs(right_answers: Path | None, curriculum: Curriculum) -> list[VerifyTask]:
    """Everything there is to try, the costly first, so that the processes end at the same time."""
    mistaken = [
        ("mistake", name) for name in reversed(curriculum.functions) if mistakes_of_function(name, curriculum.package)
    ]
    right = sorted(right_answers.glob("*/*.py")) if right_answers and right_answers.is_dir() else []
    found = [("solutions", ""), *(("right answer", str(path)) for path in right), *mistaken, ("stubs", "")]
    return [VerifyTask(kind, name, curriculum) for kind, name in found]


def verify(right_answers: Path | None, curriculum: Curriculum, processes: int = 2) -> Iterator[VerifyResult]:
    """Try everything, and yield what was found as it comes.

    Args:
        right_answers: folder of folders with right but different modules; None if there is none, as in a wheel.
        processes: how many at once.
    """
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for found in pool.map(run, jobs(right_answers, curriculum)):
            yield from found


def run(job: VerifyTask) -> list[VerifyResult]:
    """Do one job."""
    if job.kind == "solutions":
        return [_solutions(job, seed) for seed in (0, FRESH_SEED)]
    if job.kind == "stubs":
        return [_stubs(job)]
    if job.kind == "right answer":
        return [_right_answer(job, seed) for seed in (0, FRESH_SEED)]
    return list(_mistakes(job))


def _solutions(job: VerifyTask, seed: int) -> VerifyResult:
    result = check("solutions", job.solutions, Options(seed=seed, curriculum=job.curriculum))
    return VerifyResult("solutions", f"seed {seed}", result.passed and not result.internal_errors, _not_passed(result))


def _stubs(job: VerifyTask) -> VerifyResult:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in make_stubs(job.solutions, job.curriculum).items():
            Path(folder, name).write_text(text, "utf-8")
        result = check("stubs", Path(folder), Options(curriculum=job.curriculum))
    started = [check.id for check in result.checks if check.status != "not_started"]
    return VerifyResult(
        "stubs", "seed 0", not started and not result.internal_errors, ", ".join([*started, *result.internal_errors])
    )


def _right_answer(job: VerifyTask, seed: int) -> VerifyResult:
    path = Path(job.name)
    name = f"{path.parent.name}/{path.stem}"
    with tempfile.TemporaryDirectory() as folder:
        for module in job.curriculum.modules:
            shutil.copyfile(job.solutions / f"{module}.py", Path(folder, f"{module}.py"))
        shutil.copyfile(path, Path(folder, path.name))
        selected = job.curriculum.select([path.stem])
        result = check(name, Path(folder), Options(functions=selected, seed=seed, curriculum=job.curriculum))
    named = [check.mistake["id"] for check in result.checks if check.mistake]
    ok = result.passed and not result.internal_errors
    return VerifyResult("right answer", f"{name} seed {seed}", ok, _not_passed(result), ", ".join(named))


def _not_passed(result: SubmissionResult) -> str:
    wrong = [f"{check.id}: {check.message}" for check in result.checks if check.status != "passed"]
    return "; ".join([*wrong[:5], *result.internal_errors[:5]])


def _mistakes(job: VerifyTask) -> Iterator[VerifyResult]:
    package = job.curriculum.package
    known = {mistake.id: mistake for mistake in mistakes_of_function(job.name, package)}
    results: dict[str, SubmissionResult] = {}
    options = Options(functions=(job.name,), official=True, curriculum=job.curriculum)
    with tempfile.TemporaryDirectory() as scratch:
        folders, broken = _folders(known.values(), Path(scratch), package)
        check_many(folders, options, lambda result: results.update({result.submission: result}))
    for mistake_id, mistake in known.items():
        if mistake_id in broken:
            yield VerifyResult("mistake", mistake_id, False, broken[mistake_id])
        else:
            yield evaluate_mistake(mistake, results[mistake_id].checks, package)


def _folders(mistakes: Iterable[Mistake], scratch: Path, package: str) -> tuple[list[tuple[str, Path]], dict[str, str]]:
    folders, broken = [], {}
    for number, mistake in enumerate(mistakes):
        folder = scratch / str(number)
        folder.mkdir()
        module = mistake.function.partition(".")[0]
        try:
            (folder / f"{module}.py").write_text(source_with_mistakes(mistake, package=package), "utf-8")
        except BrokenMistake as error:
            broken[mistake.id] = str(error)
        else:
            folders.append((mistake.id, folder))
    return folders, broken


def evaluate_mistake(mistake: Mistake, checks: list[CheckResult], package: str = registry.BUILT_IN) -> VerifyResult:
    """Whether a mistake was caught and called by its name, or by that of its declared group."""
    failed = [check for check in checks if check.function == mistake.function and check.status != "passed"]
    if not failed:
        return VerifyResult("mistake", mistake.id, False, "passes every check")
    named = next((check.mistake["id"] for check in failed if check.mistake), "")
    names = named.split("|")
    others = mistakes_of_module(mistake.function.partition(".")[0], package)
    group = {other.id for other in others if other.group == mistake.group}
    ok = mistake.id in names and (len(names) == 1 or (bool(mistake.group) and set(names) <= group))
    return VerifyResult("mistake", mistake.id, ok, "" if ok else f"named {named or 'nothing'}", named)

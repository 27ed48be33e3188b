r"""Pytest's part: options, fixtures, points and outcomes. Load it with `-p autograder.engine.pytest_plugin`.

    python -m pytest -p autograder.engine.pytest_plugin --submission my-gpt \
        --pyargs autograder.courses.transformer.checks

A graded check is an ordinary test with the mark `graded(function, points=1)` whose docstring's first line is its title;
with `alone=False` it counts once another check of its function passes.
What it may ask for is in `fixtures.py`.

Pytest's own reporter is left alone; results are collected through hooks. A `Run` object drives it from the engine; from
pytest's command line the plugin makes one itself.
"""

import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autograder.core.text import clean
from autograder.curriculum import Curriculum, Function, registry
from autograder.engine import fixtures
from autograder.engine.describe_inputs import describe_inputs
from autograder.engine.diagnosis.variants import parameter_names
from autograder.engine.fixtures import DESK, Desk, lasting
from autograder.engine.reference import Reference
from autograder.engine.student import UNANSWERED, RecordedCheck, StudentCode
from autograder.errors import Blocked, Cancelled, CodeLine, NotStarted, Raised, UsageError, Verdict
from autograder.results import CheckResult
from autograder.sandbox import Limits, ResourceUsage, Workers

# Pytest finds fixtures as attributes of a plugin.
agree, backward, compare, draw = fixtures.agree, fixtures.backward, fixtures.compare, fixtures.draw
reference, refuses, stages = fixtures.reference, fixtures.refuses, fixtures.stages
student, unmodified = fixtures.student, fixtures.unmodified


@dataclass(frozen=True)
class Job:
    """One submission, or some functions of it, to be checked once.

    Attributes:
        functions: qualified names of the functions whose checks run; None for all that pytest has collected.
        official: the folder in which a module is checked, if it is not the submission's own: with official
            prerequisites in it, so that no other assignment can be at fault.
        diagnose: name the mistakes behind failed checks, if the run does.
        spent: what the submission has used; jobs that share one share its limits.
    """

    folder: Path
    functions: frozenset[str] | None = None
    official: Callable[[Path, str], Path] | None = None
    diagnose: bool = True
    spent: ResourceUsage = field(default_factory=ResourceUsage)

    def folder_for(self, module: str) -> Path:
        """The folder in which `module` is checked."""
        return self.official(self.folder, module) if self.official else self.folder


@dataclass
class Outcome:
    """What a job found: results of checks, and problems of the kit itself."""

    results: list[CheckResult] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    replays: dict[str, list[RecordedCheck]] = field(default_factory=dict)  # by function, to find out what went wrong


@dataclass
class Run:
    """What a pytest session needs to know beyond pytest.

    Attributes:
        drive: gets a function that does one job, and calls it as often as it likes: one session, and what it
            collected, serves a class, or an afternoon of saving and looking.
        cancelled: asked before each check; a job ends with `Cancelled` as soon as it says yes.
        checks_of: where the checks of a module are (`pytest --pyargs`), to collect them when a job first needs them;
            None: pytest has been told what to collect.
    """

    workers: Workers
    reference: Reference
    drive: Callable[[Callable[[Job], Outcome]], object]
    checks_of: Callable[[str], list[str]] | None = None
    seed: int = 0
    curriculum: Curriculum = field(default_factory=registry.default)
    limits: Limits = field(default_factory=Limits)
    diagnose: bool = True  # name the mistakes behind failed checks
    cancelled: Callable[[], bool] = field(default=lambda: False)
    desk: Desk | None = None  # as soon as the checks are collected
    items: dict[str, list[pytest.Item]] = field(default_factory=dict)  # what is collected, by module
    outcome: Outcome = field(default_factory=Outcome)  # of the job under way
    refused: UsageError | None = None  # why the run ended early


RUN = pytest.StashKey[Run]()
# Answers of one job that are kept to find out what went wrong. All right answers of the course are 2 MiB; wrong ones of
# a hostile submission would be as much as each answer may be, times the number of checks, in the grader's memory.
KEPT_BYTES = 32 << 20


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options; `--submission` must never be registered in a conftest."""
    group = parser.getgroup("headway", "grading one submission against PyTorch")
    group.addoption("--submission", metavar="DIR", help="folder with the submission's modules")
    group.addoption("--seed", type=int, default=0, metavar="N", help="draw fresh inputs (default 0: the public ones)")
    group.addoption("--call-seconds", type=float, default=Limits.call_seconds, metavar="S", help="limit of one call")


def pytest_configure(config: pytest.Config) -> None:
    """Describe the mark; from pytest's own command line, make the run."""
    config.addinivalue_line(
        "markers", "graded(function, points=1, alone=True): a graded check of one function of the curriculum"
    )
    folder = config.getoption("submission", None)
    if folder is None or RUN in config.stash:
        return
    path = Path(folder)
    if not path.is_dir():
        raise pytest.UsageError(f"--submission: there is no folder {folder}")
    workers = Workers()
    config.add_cleanup(workers.close)
    config.stash[RUN] = Run(
        workers,
        Reference.of_course(registry.BUILT_IN),
        lambda do: do(Job(path)),
        seed=config.getoption("seed"),
        limits=Limits(call_seconds=config.getoption("call_seconds")),
    )


def _function_name(item: pytest.Item) -> str | None:
    mark = item.get_closest_marker("graded")
    return str(mark.args[0]) if mark else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the checks in the order of the curriculum."""
    run = config.stash.get(RUN, None)
    if run is None:
        return
    order = {name: i for i, name in enumerate(run.curriculum.functions)}
    unknown = {name for item in items if (name := _function_name(item)) is not None and name not in order}
    if unknown:
        raise pytest.UsageError(f"checks of functions that the curriculum does not have: {', '.join(sorted(unknown))}")
    items.sort(key=lambda item: order.get(_function_name(item) or "", -1))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Do jobs with the collected checks: collecting costs as much for a class as for one."""
    run = session.config.stash.get(RUN, None)
    if run is None:
        return None
    _require_collected(session)
    if session.config.option.collectonly:
        return True
    _keep(run, session.items)
    run.desk = session.config.stash[DESK] = Desk(run.reference, run.seed, run.curriculum)
    run.drive(lambda job: _do(session, run, job))
    return True


def _require_collected(session: pytest.Session) -> None:
    if session.testsfailed and not session.config.option.continue_on_collection_errors:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")


def _keep(run: Run, items: list[pytest.Item]) -> None:
    for item in items:
        run.items.setdefault((_function_name(item) or "").partition(".")[0], []).append(item)


def _wanted(session: pytest.Session, run: Run, job: Job) -> list[pytest.Item]:
    """The checks of a job in the order of the curriculum; those that it is the first to need are collected now."""
    if job.functions is None:
        return [item for items in run.items.values() for item in items]
    modules = [name for name in run.curriculum.modules if any(f.partition(".")[0] == name for f in job.functions)]
    lacking = [name for name in modules if name not in run.items]
    if lacking and run.checks_of is not None:
        failed = session.testsfailed
        session.perform_collect([where for name in lacking for where in run.checks_of(name)])
        if session.testsfailed != failed:
            raise session.Interrupted("errors during collection")
        _keep(run, session.items)
    return [item for name in modules for item in run.items.get(name, []) if _function_name(item) in job.functions]


def _do(session: pytest.Session, run: Run, job: Job) -> Outcome:
    desk, checked = session.config.stash[DESK], None
    outcome = run.outcome = Outcome()
    items = _wanted(session, run, job)
    quick = not session.config.pluginmanager.has_plugin("terminalreporter")  # nobody reads pytest's own reports
    item: pytest.Item | None = None
    try:
        for item, next_item in zip(items, [*items[1:], None], strict=False):
            wanted = job.folder_for((_function_name(item) or "").partition(".")[0])
            if wanted != checked:
                desk.seat(StudentCode(run.workers, wanted, run.curriculum, run.limits, job.spent))
                checked = wanted
            if quick and lasting(item):
                _run_quickly(item, next_item, run)
            else:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            if run.cancelled():
                raise Cancelled
    except BaseException:
        if item is not None:  # what was left standing for the next check; the next job may begin elsewhere
            item.ihook.pytest_runtest_teardown(item=item, nextitem=None)
        raise
    finally:
        desk.seat(None)
    _name_mistakes(run, outcome, job)
    outcome.replays.clear()  # answers may be large, and nobody looks at them any more
    return outcome


def _name_mistakes(run: Run, outcome: Outcome, job: Job) -> None:
    """Where checks failed, look for the known mistake whose answers are the student's."""
    wrong = {result.function for result in outcome.results if result.status in ("failed", "error")}
    if not wrong or not (run.diagnose and job.diagnose):
        return
    from autograder.engine.diagnosis.diagnose import diagnose

    unfinished = {result.function for result in outcome.results if result.status != "passed"}
    for function in wrong:
        if unfinished.isdisjoint(run.curriculum.all_needs(function)) or job.official:
            named = diagnose(function, outcome.replays.get(function, []), run.curriculum.package)
            for result in outcome.results:
                if result.id in named:
                    result.mistake = named[result.id].as_record()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lay the check's things on the desk."""
    qualified, desk = _function_name(item), item.config.stash.get(DESK, None)
    if qualified is not None and desk is not None:
        desk.lay(qualified, item.name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Turn the outcome of a check into a result; unfinished and blocked checks count as skipped to pytest."""
    report = yield
    run = item.config.stash.get(RUN, None)
    if run is None or _function_name(item) is None:
        return report
    result = _note(item, run, call)
    if result is not None and isinstance(call.excinfo and call.excinfo.value, Verdict):
        reason = f"{result.status}: {result.message}"
        if result.status in ("not_started", "blocked"):
            report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1] or 0, reason)
        else:
            report.longrepr = f"{reason}\n    case  {result.inputs}" if result.inputs else reason
    return report


def _run_quickly(item: pytest.Item, next_item: pytest.Item | None, run: Run) -> None:
    """Run one check through pytest's own hooks, without the three reports that only its reporter would read."""

    def check() -> None:
        item.ihook.pytest_runtest_setup(item=item)
        item.ihook.pytest_runtest_call(item=item)

    reraise = (pytest.exit.Exception, KeyboardInterrupt)
    call = pytest.CallInfo.from_call(check, when="call", reraise=reraise)
    item.ihook.pytest_runtest_teardown(item=item, nextitem=next_item)
    if _function_name(item) is not None:
        _note(item, run, call)


def _note(item: pytest.Item, run: Run, call: pytest.CallInfo[None]) -> CheckResult | None:
    """Keep what came of a phase of a check: its result, if it was the call, and what went wrong with the kit."""
    error = call.excinfo.value if call.excinfo else None
    result = None
    if call.when == "call":
        student, function = item.config.stash[DESK].student, item.config.stash[DESK].function
        result = _result(item, student, function, error, run.curriculum.package)
        run.outcome.results.append(result)
        came_back = all(call.value is not UNANSWERED or call.exception for call in student.calls)
        if came_back and student.spent.received <= KEPT_BYTES:
            replay = RecordedCheck(result.id, result.status == "passed", tuple(student.calls), student.seconds)
            run.outcome.replays.setdefault(function.qualified, []).append(replay)
    if isinstance(error, UsageError):  # the same for every check: the run cannot go on
        run.refused = error
        item.session.shouldstop = "wrong usage"
    elif error is not None and not isinstance(error, (Verdict, AssertionError)):
        run.outcome.problems.append(f"{item.nodeid}: {type(error).__name__}: {clean(error, 300)}")
    return result


def _result(
    item: pytest.Item, student: StudentCode, function: Function, error: BaseException | None, package: str
) -> CheckResult:
    mark = item.get_closest_marker("graded")
    assert mark is not None
    calls = student.calls
    points = float(mark.kwargs.get("points", 1))
    mine = [call for call in calls if call.function is function]
    result = CheckResult(
        id=f"{function.qualified}::{item.name.removeprefix('test_')}",
        function=function.qualified,
        title=_title(item),
        status="passed",
        possible=points,
        earned=0.0 if error else points,
        output=student.printed(),
        warnings=list(dict.fromkeys(text for call in calls for text in call.warnings)),
        sees_answers=fixtures.sees_answers(item),
        seconds=student.seconds,
    )
    if error is None:
        return result
    if mine:
        result.inputs = describe_inputs(mine[-1].args, mine[-1].kwargs, parameter_names(function.qualified, package))
    if mine and mine[-1].line is not None:
        result.location = {"file": f"{function.module}.py", "line": mine[-1].line}
    elif mine and mine[-1].exception and mine[-1].exception.trace:  # an exception, but not the one that was asked for
        result.location = _where(mine[-1].exception.trace[-1])
    if isinstance(error, NotStarted) and calls[-1].function is not function:
        needed = calls[-1].function.qualified
        if not student.is_stub(function):
            error = Blocked(f"{function.name} needs {needed}, which is not written yet", (needed,))
    if isinstance(error, Raised) and error.exception.unreadable:
        result.inputs = None  # no input is at fault
    if isinstance(error, Verdict):
        result.status = error.status  # type: ignore[assignment]
        # Names of types and keys of dictionaries are the student's words too.
        result.message, result.help = clean(error.message), clean(error.help) if error.help else None
        result.secret = error.details.get("secret")
        result.wrong, result.worst = error.details.get("wrong"), error.details.get("worst")
        result.shapes, result.error_map = error.details.get("shapes"), error.details.get("error_map")
        result.first_wrong_stage = error.details.get("first_wrong_stage")
        if isinstance(error, Blocked):
            result.blocked_by = list(error.blocked_by)
        if isinstance(error, Raised) and error.exception.trace:
            result.location = _where(error.exception.trace[-1])
    elif isinstance(error, AssertionError):
        result.status, result.message = "failed", clean(str(error).partition("\n")[0] or "the check's assertion failed")
    else:
        result.status, result.message = "error", f"the kit itself failed: {type(error).__name__}: {clean(error, 300)}"
    return result


def _where(last: CodeLine) -> dict[str, Any]:
    return {"file": last.file, "line": last.line, "text": last.text}


def _title(item: pytest.Item) -> str:
    text = inspect.getdoc(item.obj) if isinstance(item, pytest.Function) else None
    title = (text or item.name.removeprefix("test_").replace("_", " ")).partition("\n")[0].rstrip(".")
    callspec = getattr(item, "callspec", None)
    return f"{title} [{callspec.id}]" if callspec is not None else title

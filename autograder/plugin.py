"""Pytest's part: options, fixtures, points and outcomes. Load it with `-p autograder.plugin`.

    python -m pytest -p autograder.plugin --pyargs autograder.checks --submission my-gpt

A graded check is an ordinary test with the mark `graded(function, points=1)` whose docstring's first line is its title.
The fixtures:

    student      the submission, in another process      student.softmax.softmax(x)
    reference    PyTorch, behind a memo                  reference.softmax.softmax(x)
    draw         seeded inputs of this check             draw.normal(2, 5)
    compare      compare the last call's value           compare(actual, expected)
    agree        call both and compare                   agree(x, axis=0)

Pytest's own reporter is left alone; results are collected through hooks. A `Run` object drives it from the engine; from
pytest's command line the plugin makes one itself.
"""

import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autograder import compare as comparing
from autograder.curriculum import TRANSFORMER, Curriculum, Function
from autograder.departure import first_departure
from autograder.draw import Draw
from autograder.errors import Blocked, Cancelled, Mismatch, NotStarted, Raised, UsageError, Verdict
from autograder.proxies import UNANSWERED, Replay, Student, clean
from autograder.reference import Reference
from autograder.results import CheckResult
from autograder.worker import Limits, Spent, Workers

Agree = Callable[..., Any]
Compare = Callable[..., None]
Unmodified = Callable[..., None]
Refuses = Callable[..., None]


@dataclass(frozen=True)
class Job:
    """One submission, or some functions of it, to be checked once.

    Attributes:
        functions: qualified names of the functions whose checks run; None for all that pytest has collected.
        official: the folder in which a module is checked, if it is not the submission's own: with official
            prerequisites in it, so that no other assignment can be at fault.
        diagnose: name the mistakes behind failed checks, if the run does.
    """

    folder: Path
    functions: frozenset[str] | None = None
    official: Callable[[Path, str], Path] | None = None
    diagnose: bool = True

    def folder_for(self, module: str) -> Path:
        """The folder in which `module` is checked."""
        return self.official(self.folder, module) if self.official else self.folder


@dataclass
class Outcome:
    """What a job found: results of checks, and problems of the kit itself."""

    results: list[CheckResult] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    replays: dict[str, list[Replay]] = field(default_factory=dict)  # by function, to find out what went wrong


@dataclass
class Run:
    """What a pytest session needs to know beyond pytest.

    Attributes:
        drive: gets a function that does one job, and calls it as often as it likes: one session, and what it
            collected, serves a class, or an afternoon of saving and looking.
        cancelled: asked before each check; a job ends with `Cancelled` as soon as it says yes.
        file_of: where the checks of a module are, to collect them when a job first needs them; None: pytest has been
            told what to collect.
    """

    workers: Workers
    reference: Reference
    drive: Callable[[Callable[[Job], Outcome]], object]
    file_of: Callable[[str], Path] | None = None
    seed: int = 0
    curriculum: Curriculum = TRANSFORMER
    limits: Limits = field(default_factory=Limits)
    diagnose: bool = True  # name the mistakes behind failed checks
    cancelled: Callable[[], bool] = field(default=lambda: False)
    student: Student | None = None
    items: dict[str, list[pytest.Item]] = field(default_factory=dict)  # what is collected, by module
    outcome: Outcome = field(default_factory=Outcome)  # of the job under way
    refused: UsageError | None = None  # why the run ended early


RUN = pytest.StashKey[Run]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options; `--submission` must never be registered in a conftest (see the README of the worker)."""
    group = parser.getgroup("headway", "grading one submission against PyTorch")
    group.addoption("--submission", metavar="DIR", help="folder with the submission's modules")
    group.addoption("--seed", type=int, default=0, metavar="N", help="draw fresh inputs (default 0: the public ones)")
    group.addoption("--call-seconds", type=float, default=Limits.call_seconds, metavar="S", help="limit of one call")


def pytest_configure(config: pytest.Config) -> None:
    """Describe the mark; from pytest's own command line, make the run."""
    config.addinivalue_line("markers", "graded(function, points=1): a graded check of one function of the curriculum")
    folder = config.getoption("submission", None)
    if folder is None or RUN in config.stash:
        return
    path = Path(folder)
    if not path.is_dir():
        raise pytest.UsageError(f"--submission: there is no folder {folder}")
    from autograder.reference.memo import Memo, user_cache

    workers = Workers()
    config.add_cleanup(workers.close)
    config.stash[RUN] = Run(
        workers,
        Reference(Memo(cache=user_cache())),
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
    if lacking and run.file_of is not None:
        failed = session.testsfailed
        session.perform_collect([str(run.file_of(name)) for name in lacking])
        if session.testsfailed != failed:
            raise session.Interrupted("errors during collection")
        _keep(run, session.items)
    return [item for name in modules for item in run.items.get(name, []) if _function_name(item) in job.functions]


def _do(session: pytest.Session, run: Run, job: Job) -> Outcome:
    run.student, checked, spent = None, None, Spent()
    outcome = run.outcome = Outcome()
    items = _wanted(session, run, job)
    try:
        for item, next_item in zip(items, [*items[1:], None], strict=False):
            wanted = job.folder_for((_function_name(item) or "").partition(".")[0])
            if run.student is None or wanted != checked:
                if run.student is not None:
                    run.student.close()
                run.student, checked = Student(run.workers, wanted, run.curriculum, run.limits, spent), wanted
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            if run.cancelled():
                raise Cancelled
    finally:
        if run.student is not None:
            run.student.close()
    _name_mistakes(run, outcome, job)
    return outcome


def _name_mistakes(run: Run, outcome: Outcome, job: Job) -> None:
    """Where checks failed, look for the known mistake whose answers are the student's."""
    wrong = {result.function for result in outcome.results if result.status in ("failed", "error")}
    if not wrong or not (run.diagnose and job.diagnose):
        return
    from autograder.diagnose import diagnose

    unfinished = {result.function for result in outcome.results if result.status != "passed"}
    for function in wrong:
        if unfinished.isdisjoint(run.curriculum.all_needs(function)) or job.official:
            diagnosis = diagnose(function, outcome.replays.get(function, []))
            if diagnosis is not None:
                for result in outcome.results:
                    if result.function == function and result.status in ("failed", "error"):
                        result.mistake = diagnosis.as_record()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Turn the outcome of a check into a result; unfinished and blocked checks count as skipped to pytest."""
    report = yield
    run = item.config.stash.get(RUN, None)
    qualified = _function_name(item)
    if run is None or qualified is None:
        return report
    error = call.excinfo.value if call.excinfo else None
    if call.when == "call":
        result = _result(item, run, run.curriculum.functions[qualified], error, call.duration)
        run.outcome.results.append(result)
        if run.student is not None and all(
            call.value is not UNANSWERED or call.exception for call in run.student.calls
        ):
            replay = Replay(result.status == "passed", tuple(run.student.calls), call.duration)
            run.outcome.replays.setdefault(qualified, []).append(replay)
        if isinstance(error, Verdict):
            reason = f"{result.status}: {result.message}"
            if result.status in ("not_started", "blocked"):
                report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1] or 0, reason)
            else:
                report.longrepr = f"{reason}\n    case  {result.case}" if result.case else reason
    if isinstance(error, UsageError):  # the same for every check: the run cannot go on
        run.refused = error
        item.session.shouldstop = "wrong usage"
    elif error is not None and not isinstance(error, (Verdict, AssertionError)):
        run.outcome.problems.append(f"{item.nodeid}: {type(error).__name__}: {clean(error, 300)}")
    return report


def _result(
    item: pytest.Item, run: Run, function: Function, error: BaseException | None, seconds: float
) -> CheckResult:
    assert run.student is not None
    mark = item.get_closest_marker("graded")
    assert mark is not None
    calls = run.student.calls
    points = float(mark.kwargs.get("points", 1))
    mine = [call for call in calls if call.function is function]
    result = CheckResult(
        id=f"{function.qualified}::{item.name.removeprefix('test_')}",
        function=function.qualified,
        title=_title(item),
        status="passed",
        possible=points,
        earned=0.0 if error else points,
        output=run.student.printed(),
        hints=list(dict.fromkeys(text for call in calls for text in call.warnings)),
        seconds=seconds,
    )
    if error is None:
        return result
    result.case = describe_case(mine[-1].args, mine[-1].kwargs) if mine else None
    if mine and mine[-1].line is not None:
        result.where = {"file": f"{function.module}.py", "line": mine[-1].line}
    if isinstance(error, NotStarted) and calls[-1].function is not function:
        needed = calls[-1].function.qualified
        if not run.student.is_stub(function):
            error = Blocked(f"{function.name} needs {needed}, which is not written yet", (needed,))
    if isinstance(error, Verdict):
        result.status = error.status  # type: ignore[assignment]
        # Names of types and keys of dictionaries are the student's words too.
        result.message, result.help = clean(error.message), clean(error.help) if error.help else None
        result.secret = error.details.get("secret")
        result.wrong, result.worst = error.details.get("wrong"), error.details.get("worst")
        result.shapes, result.picture = error.details.get("shapes"), error.details.get("picture")
        result.departure = error.details.get("departure")
        if isinstance(error, Blocked):
            result.blocked_by = list(error.blocked_by)
        if isinstance(error, Raised) and error.exception.trace:
            last = error.exception.trace[-1]
            result.where = {"file": last.file, "line": last.line, "text": last.text}
    elif isinstance(error, AssertionError):
        result.status, result.message = "failed", clean(str(error).partition("\n")[0] or "the check's assertion failed")
    else:
        result.status, result.message = "error", f"the kit itself failed: {type(error).__name__}: {clean(error, 300)}"
    return result


def _title(item: pytest.Item) -> str:
    text = inspect.getdoc(item.obj) if isinstance(item, pytest.Function) else None
    title = (text or item.name.removeprefix("test_").replace("_", " ")).partition("\n")[0].rstrip(".")
    callspec = getattr(item, "callspec", None)
    return f"{title} [{callspec.id}]" if callspec is not None else title


def describe_case(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The inputs of a call in one line: shapes of arrays, small values as they are."""
    parts = [_describe_input(value) for value in args]
    parts += [f"{name} {_describe_input(value)}" for name, value in kwargs.items()]
    return clean(", ".join(parts), 300)


def _describe_input(value: Any) -> str:
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        text = "×".join(map(str, shape)) if shape else "scalar"
        return f"({', '.join(map(str, shape))})" + ("" if dtype == "float64" else f" {dtype}") if shape else text
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{key} {_describe_input(item)}" for key, item in list(value.items())[:4])
            + (", …}" if len(value) > 4 else "}")
        )
    return repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__


def _run_of(request: pytest.FixtureRequest) -> Run:
    run = request.config.stash.get(RUN, None)
    if run is None:
        pytest.skip("graded checks need a submission: --submission DIR")
    return run


@pytest.fixture
def student(request: pytest.FixtureRequest) -> Student:
    """The submission under test, in its own process."""
    student = _run_of(request).student
    assert student is not None
    student.new_check(_function_name(request.node) or "")
    return student


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> Reference:
    """PyTorch's answers."""
    return _run_of(request).reference


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> Draw:
    """This check's stream of inputs."""
    return Draw(_run_of(request).seed, f"{_function_name(request.node)}::{request.node.name}")


@pytest.fixture
def compare(request: pytest.FixtureRequest, student: Student) -> Compare:
    """`compare(actual, expected)`: raise a verdict unless they agree; names come from the function under test."""
    run = _run_of(request)
    function = run.curriculum.functions[_function_name(request.node) or ""]

    def compare_with(actual: Any, expected: Any, **options: Any) -> None:
        comparing.compare(actual, expected, function, **options)

    return compare_with


@pytest.fixture
def agree(request: pytest.FixtureRequest, student: Student, reference: Reference, compare: Compare) -> Agree:
    """`agree(*args, **kwargs)`: call the function under test and PyTorch's, compare, return the student's value."""
    qualified = _function_name(request.node) or ""
    module, _, name = qualified.partition(".")

    def call_and_compare(*args: Any, tolerance: comparing.Tolerance | None = None, **kwargs: Any) -> Any:
        actual = student.call(qualified, args, kwargs)
        expected = reference.call(module, name, args, kwargs)
        try:
            compare(actual, expected, tolerance=tolerance)
        except Mismatch as mismatch:
            mismatch.details["departure"] = first_departure(student.calls[-1], expected)
            raise
        return actual

    return call_and_compare


@pytest.fixture
def unmodified(request: pytest.FixtureRequest, student: Student) -> Unmodified:
    """`unmodified(*args, **kwargs)`: call the function under test and see that its inputs are what they were."""
    qualified = _function_name(request.node) or ""

    def call_and_look(*args: Any, **kwargs: Any) -> None:
        student.call(qualified, args, kwargs)
        modified = student.calls[-1].modified
        if modified:
            names = ", ".join(modified[:4])
            raise Mismatch(
                f"{qualified.partition('.')[2]} changed its input {names}",
                help=f"work on a copy: {names} -= … and out={names} write into the caller's array",
            )

    return call_and_look


@pytest.fixture
def refuses(request: pytest.FixtureRequest, student: Student) -> Refuses:
    """`refuses(*args, about=…)`: the function must raise ValueError, with a text that mentions `about`."""
    qualified = _function_name(request.node) or ""

    def call_and_expect(*args: Any, about: str = "", **kwargs: Any) -> None:
        name = qualified.partition(".")[2]
        try:
            student.call(qualified, args, kwargs)
        except Raised as verdict:
            raised = verdict.exception
            if raised.type != "ValueError":
                raise Mismatch(f"{name} must raise ValueError here, not {raised.type}") from None
            if about not in raised.message:
                raise Mismatch(f"the ValueError of {name} does not mention {about!r}: {raised.message!r}") from None
            return
        raise Mismatch(f"{name} must raise ValueError here, but returned a value")

    return call_and_expect

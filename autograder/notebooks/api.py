"""Checks in a notebook:

    from autograder.notebooks.api import check

    check(softmax)

`debug`, `hint`, `progress` and `solution` do what the commands of these names do.

The function's source is taken from the cells that were run and checked like any submission: in a separate process, with
the same checks and the same report. `running_notebook.py` says where earlier assignments come from.
"""

import atexit
import contextlib
import functools
import io
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.core.safe_output import echo
from autograder.course import Curriculum
from autograder.documents.results import CheckResult, Level, SubmissionResult, function_status, to_document, withhold
from autograder.engine import session
from autograder.engine.cell_locations import locate_in_cells
from autograder.errors import UsageError
from autograder.notebooks import running_notebook
from autograder.parsing.cell_statements import Cell
from autograder.parsing.extract import extract_modules
from autograder.report.check_report import NOTEBOOK_WIDTH, NotebookReport
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import start_workers
from autograder.sandbox.workers import Workers
from autograder.workspace import failed_call, hints, solutions
from autograder.workspace.dependencies import ModuleSource, Snapshot
from autograder.workspace.state import State

if TYPE_CHECKING:
    from autograder.report.console import SafeConsole

CALL_SECONDS = 5.0  # shorter than elsewhere: somebody is waiting, and cells may have a time limit
_statuses: dict[str, str] = {}  # latest status of each function checked in this kernel
_state_without_workspace = State(Path())  # the hints shown by this kernel, where there is no workspace to remember them


@contextlib.contextmanager
def _one_line_for_errors() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        echo(f"headway: {error}")


@_one_line_for_errors()
def check(*functions: Any, seed: int = 0) -> None:
    """Check functions of this notebook and display the report.

    Args:
        functions: functions, or names: "softmax.softmax", or "softmax" for a whole assignment.
        seed: seed of fresh inputs, which need PyTorch; 0 stands for the inputs that come with Headway.
    """
    _display(report(*functions, seed=seed, record=True))


@_one_line_for_errors()
def hint(function: Any, more: bool = False) -> None:
    """Print the hints of a function that you have seen, at least the first one, and one `more` if you want it."""
    from autograder.report import help_texts

    qualified, workspace = _one_name(function), running_notebook.find_workspace(Path.cwd())
    steps = hints.require_steps(qualified, running_notebook.course().package)
    state = workspace.state if workspace else _state_without_workspace
    count = hints.show_more(state, qualified, int(more), save=workspace is not None)
    name = qualified.partition(".")[2]
    commands = f"check({name})", f"hint({name}, more=True)"
    shown = list(zip(hints.KINDS, steps, strict=True))[:count]
    help_texts.render_hints(qualified, shown, len(steps), commands, _plain_console())


def _plain_console() -> "SafeConsole":
    """Return a console for plain text, which every notebook editor shows alike."""
    from autograder.report.console import SafeConsole

    return SafeConsole(width=NOTEBOOK_WIDTH, force_jupyter=False, color_system=None)


@_one_line_for_errors()
def debug(function: Any) -> None:
    """Write a cell that repeats the call of the function's first failed check, for you to run and change."""
    name, course, cells = _one_name(function), running_notebook.course(), running_notebook.executed_cells()
    submission = running_notebook.assemble_submission(course.functions[name].module, cells, Path.cwd(), course)
    failed = failed_call.first_called(_check(submission, [name], 0, course).checks, name)
    running_notebook.write_next_cell(failed_call.script(failed, None, course.package, submission.own_modules))


@_one_line_for_errors()
def solution(function: Any, give_up: bool = False) -> None:
    """Print the solution of a function, once yours passes; `give_up` shows it earlier, which is recorded."""
    qualified, workspace = _one_name(function), running_notebook.find_workspace(Path.cwd())
    if workspace is None:
        raise UsageError("solutions are shown in the notebooks of a workspace. Create one: headway init my-gpt")
    name = qualified.partition(".")[2]
    passed = {name for known in (workspace.statuses, _statuses) for name, status in known.items() if status == "passed"}
    try:
        solutions.require_solutions_allowed(workspace, [qualified], passed, give_up=give_up)
    except solutions.SolutionRefused as error:
        if error.rule == "never":
            raise UsageError(f"your instructor has disabled solutions. Ask for a hint: hint({name})") from None
        now = f". To see the solution now (this is recorded): solution({name}, give_up=True)"
        later = " (your instructor shows solutions only after they pass)"
        ending = now if error.rule == "give-up" else later
        raise UsageError(f"{qualified} does not pass yet. Ask for a hint: hint({name}, more=True){ending}") from None
    echo(solutions.solution_of(qualified, running_notebook.course()), end="")


@_one_line_for_errors()
def progress(*functions: Any) -> None:
    """Print your progress: in the whole course, or in the functions or assignments that are named.

    It is the progress recorded in the workspace; elsewhere, the functions that pass in this notebook.
    """
    from autograder.report import progress_table

    cells, course = running_notebook.executed_cells(), running_notebook.course()
    names = tuple(name for argument in functions for name in _names(argument, cells, course)) or tuple(course.functions)
    workspace = running_notebook.find_workspace(Path.cwd())
    if workspace is None or not workspace.has_recorded_course:
        passed = [name for name in names if _statuses.get(name) == "passed"]
        listed = f": {', '.join(passed)}" if passed else ""
        echo(f"{len(passed)} of {len(names)} functions pass in this notebook{listed}")
        return
    entries = workspace.progress
    stale = frozenset(entries.keys() - workspace.statuses.keys())
    total = len(workspace.curriculum.functions)
    progress_table.render(course, names, _plain_console(), entries, stale, total)
    for line in workspace.describe_sources(dict.fromkeys(name.partition(".")[0] for name in names)):
        echo(line)


def _one_name(function: Any) -> str:
    names = _names(function, running_notebook.executed_cells(), running_notebook.course())
    if len(names) > 1:
        raise UsageError(f"name one function, for example: {names[0].partition('.')[2]}")
    return names[0]


@_one_line_for_errors()
def use_course(name: str) -> None:
    """Use a course of another installed package in this notebook, by the name given to `--curriculum`."""
    running_notebook.use_course(name)


class GradeCell:
    """The function that nbgrader's graded cells call. Its return value is the cell's partial credit."""

    seed = 0  # of the inputs of the next call, set by lines that are hidden from students

    def __call__(self, name: str, points: float) -> float:
        """Check one function, display the report and return the part of `points` that it earns.

        Warnings of student code stay out of the cell's output, where nbgrader would count them as an error. On hidden
        inputs no expected value is shown, because students get the cell's output as feedback.
        Raises InternalError if the function could not be checked.
        """
        seed, self.seed = self.seed, 0
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                checked = report(name, seed=seed, feedback="summary" if seed else "full", as_run=False)
            except UsageError as error:
                if not seed:
                    echo(f"headway: {error}")
                    return 0.0
                checked = replace(report(name, as_run=False), note=f"checked with the usual inputs: {error}")
        _display(checked)
        if problems := checked.document["internal_errors"]:
            raise session.InternalError(f"{name} could not be graded: {problems[0]}")
        earned, possible = checked.document["points"]["earned"], checked.document["points"]["possible"]
        return min(float(points), round(earned / possible * points, 6)) if possible else 0.0


grade = GradeCell()


def report(
    *functions: Any,
    seed: int = 0,
    feedback: Level = "full",
    as_run: bool = True,
    record: bool = False,
) -> NotebookReport:
    """Return what `check` displays as an object: `report(softmax).passed`.

    Args:
        feedback: how much is revealed, see `autograder.documents.results.withhold`.
        as_run: whether the definition that was run last counts, even if it is a stub. False when a whole notebook is
            graded, where a stub below the student's code must not replace it.
        record: whether the results are recorded in the workspace to which the notebook belongs, if there is one.

    Raises UsageError if an argument is not a function of the course, or the notebook does not define it.
    """
    cells, curriculum = running_notebook.executed_cells(), running_notebook.course()
    names = [name for argument in functions for name in _names(argument, cells, curriculum)]
    if not names:
        raise UsageError("nothing to check. Name a function, for example: check(softmax)")
    by_module = defaultdict(list)
    for name in names:
        by_module[curriculum.functions[name].module].append(name)
    results, origins, badges = [], {}, []
    for module, selected in by_module.items():
        submission = running_notebook.assemble_submission(module, cells, Path.cwd(), curriculum, as_run=as_run)
        results.append(_check(submission, selected, seed, curriculum))
        if record and not seed:
            badges += _record_checks(results[-1].checks, submission)
        origins.update(submission.origins)
    result, *others = results
    for other in others:
        result.checks += other.checks
        result.internal_errors += other.internal_errors
        result.seconds += other.seconds
    withhold(result, feedback)
    for name in names:
        _statuses[name] = function_status(c for c in result.checks if c.function == name)
    latest = {f.qualified: _statuses.get(f.qualified) for m in by_module for f in curriculum.modules[m].functions}
    return NotebookReport(to_document(result, curriculum), latest, origins, "\n".join(badges))


def _check(
    submission: running_notebook.NotebookSubmission, functions: list[str], seed: int, curriculum: Curriculum
) -> SubmissionResult:
    limits = Limits(call_seconds=CALL_SECONDS)
    workers = contextlib.nullcontext(_workers())
    options = session.Options(tuple(functions), seed, limits, curriculum, lambda sandbox: workers, keep_calls=True)
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        for module, text in submission.texts.items():
            (Path(folder) / f"{module}.py").write_bytes(text.encode("utf-8", "replace"))
        result = session.check("notebook", Path(folder), options)
    locate_in_cells(result, {module: submission.texts[module] for module in submission.own_modules})
    return result


def _record_checks(checks: Sequence[CheckResult], submission: running_notebook.NotebookSubmission) -> list[str]:
    """Record results in the workspace, if there is one, for the code that was checked; return a line for each badge."""
    workspace = running_notebook.find_workspace(Path.cwd())
    if workspace is None or not workspace.has_recorded_course:
        return []
    sources = {name: ModuleSource(name, text.encode("utf-8", "replace")) for name, text in submission.texts.items()}
    workspace.snapshot = Snapshot(sources, workspace.curriculum)
    recorded = [check for check in checks if check.function.partition(".")[0] in submission.own_modules]
    return workspace.record(SubmissionResult("", "", 0, recorded))


@functools.cache
def _workers() -> Workers:
    """Return what runs the functions in all checks of this kernel: its server loads NumPy once."""
    workers = start_workers()
    atexit.register(workers.close)
    return workers


def _names(argument: Any, cells: Sequence[Cell], curriculum: Curriculum) -> tuple[str, ...]:
    """Return the qualified names of the functions that an argument of `check` names."""
    if isinstance(argument, str):
        return curriculum.select([argument])
    name, module = getattr(argument, "__name__", ""), getattr(argument, "__module__", None)
    if f"{module}.{name}" in curriculum.functions:  # imported from a file
        return (f"{module}.{name}",)
    if name in curriculum.modules and not callable(argument):
        return curriculum.select([name])
    candidates = [qualified for qualified, function in curriculum.functions.items() if function.name == name]
    if not callable(argument) or not candidates:
        raise UsageError(_describe_argument(argument, curriculum))
    if len(candidates) > 1:
        defined = extract_modules(cells, curriculum.function_names, as_run=True)
        candidates = [name for name in candidates if curriculum.functions[name].module in defined] or candidates
    return (candidates[0],)


def _describe_argument(argument: Any, curriculum: Curriculum) -> str:
    """Return why an argument of `check` is not a function of the course, and what to do."""
    has_name = hasattr(argument, "__name__")
    kind = f"a function named {argument.__name__}" if has_name else f"of type {type(argument).__name__}"
    course_names = {function.name for function in curriculum.functions.values()}
    for name, value in running_notebook.namespace().items():
        if value is argument and name in course_names:
            return f"{name} is now {kind}: a cell assigned to that name. Run the cell that defines the function again"
    if not callable(argument):
        return f"the argument of check is {kind}. Pass the function itself, without calling it: check(softmax)"
    return f"the argument of check is {kind}, which is not in the course. List its functions: headway list"


def _display(shown: NotebookReport) -> None:
    try:
        from IPython.display import display
    except ImportError:
        echo(shown)
    else:
        display(shown)  # type: ignore[no-untyped-call]


running_notebook.install_finder()

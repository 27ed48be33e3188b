"""Checks in a notebook:

    from autograder.notebook import check

    check(softmax)

The function's source is taken from the cells that were run, and judged like any submission: in a process of its own,
by the same checks, with the same report. `running_notebook.py` says where earlier assignments come from.
"""

import contextlib
import io
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.courses.transformer import TRANSFORMER
from autograder.curriculum import Curriculum
from autograder.engine import session
from autograder.errors import UsageError
from autograder.notebooks import extract, running_notebook
from autograder.notebooks.cell_statements import Cell
from autograder.notebooks.line_to_cell import locate_in_cells
from autograder.report.notebook import NotebookReport
from autograder.results import Level, SubmissionResult, function_status, to_document, withhold
from autograder.sandbox import Limits

CALL_SECONDS = 5.0  # somebody is waiting, and a cell may have a time limit of its own
_progress: dict[str, str] = {}  # what was found so far in this kernel, by function


def check(*what: Any, seed: int = 0) -> None:
    """Check functions of this notebook, and show what is wrong with them.

    Args:
        what: functions (`check(softmax)`), or names: "softmax.softmax", or "softmax" for a whole assignment.
        seed: draws fresh inputs (that needs PyTorch); 0 is the public set.
    """
    try:
        _show(report(*what, seed=seed))
    except UsageError as error:
        print(f"headway: {error}")


class GradeCell:
    """What nbgrader's graded cells call; its value is the cell's partial credit.

    Attributes:
        seed: draws the inputs. Cells that students never see set it before they call.
    """

    seed = 0

    def __call__(self, name: str, points: float) -> float:
        """Check one function, show the report, and return what it earns of `points`.

        Warnings never count: nothing of what student code prints or warns reaches the cell's own output. On hidden
        inputs no expected value is shown, since the feedback is handed out.
        """
        seed, self.seed = self.seed, 0
        note, errors = "", io.StringIO()
        with contextlib.redirect_stderr(errors):
            try:
                found = report(name, seed=seed, feedback="summary" if seed else "full", as_run=False)
            except UsageError as error:
                if not seed:
                    print(f"headway: {error}")
                    return 0.0
                note = f"checked on the public inputs: {error}"
                found = replace(report(name, as_run=False), note=note)
        _show(found)
        if found.document["internal_errors"]:
            raise session.InternalError(f"{name} could not be graded: {found.document['internal_errors'][0]}")
        earned, possible = (found.document["points"][key] for key in ("earned", "possible"))
        return min(float(points), round(earned / possible * points, 6)) if possible else 0.0


grade = GradeCell()


def report(
    *what: Any, seed: int = 0, feedback: Level = "full", as_run: bool = True, curriculum: Curriculum = TRANSFORMER
) -> NotebookReport:
    """What `check` shows, as an object: `report(softmax).passed`.

    Args:
        feedback: how much it tells, see `course.feedback`.
        as_run: what was run last counts, whatever it is. When a whole notebook is graded, a stub that stands beneath
            somebody's work is no reason to forget the work.

    Raises:
        UsageError: if something is no function of the course, or the notebook does not define it.
    """
    cells = running_notebook.executed_cells()
    names = [name for thing in what for name in _names(thing, cells, curriculum)]
    if not names:
        raise UsageError("say what to check, for example: check(softmax)")
    by_module: dict[str, list[str]] = {}
    for name in names:
        by_module.setdefault(curriculum.functions[name].module, []).append(name)
    results, origins = [], {}
    for module, functions in by_module.items():
        assembled = running_notebook.assemble_submission(module, cells, Path.cwd(), curriculum, as_run=as_run)
        results.append(_judge(assembled, functions, seed, curriculum))
        origins.update(assembled.origins)
    result = results[0]
    for other in results[1:]:
        result.checks += other.checks
        result.internal_errors += other.internal_errors
        result.seconds += other.seconds
    withhold(result, feedback)
    for name in names:
        _progress[name] = function_status(c for c in result.checks if c.function == name)
    progress = {f.qualified: _progress.get(f.qualified) for m in by_module for f in curriculum.modules[m].functions}
    return NotebookReport(to_document(result, curriculum), progress, origins)


def _judge(
    assembled: running_notebook.NotebookSubmission, functions: list[str], seed: int, curriculum: Curriculum
) -> SubmissionResult:
    options = session.Options(tuple(functions), seed, Limits(call_seconds=CALL_SECONDS), curriculum)
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        assembled.write(Path(folder))
        result = session.check("notebook", Path(folder), options)
    locate_in_cells(result, {module: assembled.texts[module] for module in assembled.own})
    return result


def _names(thing: Any, cells: Sequence[Cell], curriculum: Curriculum) -> tuple[str, ...]:
    if isinstance(thing, str):
        return curriculum.select([thing])
    name, module = getattr(thing, "__name__", ""), getattr(thing, "__module__", None)
    if f"{module}.{name}" in curriculum.functions:  # imported from a file
        return (f"{module}.{name}",)
    if name in curriculum.modules and not callable(thing):
        return curriculum.select([name])
    found = [qualified for qualified, f in curriculum.functions.items() if f.name == name]
    if not callable(thing) or not found:
        raise UsageError(_describe_argument(thing, curriculum))
    if len(found) > 1:
        here = extract.extract_modules(cells, curriculum, as_run=True)
        found = [q for q in found if curriculum.functions[q].module in here] or found
    return (found[0],)


def _describe_argument(thing: Any, curriculum: Curriculum) -> str:
    kind = f"a function named {thing.__name__}" if hasattr(thing, "__name__") else f"of type {type(thing).__name__}"
    names = [
        name for name, value in running_notebook.namespace().items() if value is thing and not name.startswith("_")
    ]
    for name in names:
        if any(function.name == name for function in curriculum.functions.values()):
            return (
                f"{name} is {kind} now: a cell has assigned to that name. Run the cell that defines the function again"
            )
    if not callable(thing):
        return f"what you gave to check is {kind}. Give it the function itself, without calling it: check(softmax)"
    return f"what you gave to check is {kind}; the course has no function of that name. Its functions: headway list"


def _show(found: NotebookReport) -> None:
    try:
        from IPython.display import display
    except ImportError:
        print(found)
    else:
        display(found)  # type: ignore[no-untyped-call]


running_notebook.install_finder()

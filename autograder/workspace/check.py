"""Check a workspace, record the results, and decide what to do next."""

from collections.abc import Mapping

from autograder.core.text import clean
from autograder.curriculum.stubs import EXPERIMENT
from autograder.engine import session
from autograder.results import Status, SubmissionResult
from autograder.sandbox import Limits
from autograder.workspace import progress
from autograder.workspace.workspace import Workspace


def check_workspace(
    workspace: Workspace, functions: tuple[str, ...], *, seed: int = 0, limits: Limits | None = None
) -> tuple[SubmissionResult, list[str]]:
    """Check functions of a workspace, and record the result if the inputs were the public ones.

    Only a workspace made by `headway init` is written to.

    Returns:
        The result, and one line for each badge that was awarded.
    """
    workspace.refresh_snapshot()
    everything = len(functions) == len(workspace.curriculum.functions)
    options = session.Options(
        functions=None if everything else functions,
        seed=seed,
        limits=limits or Limits(),
        curriculum=workspace.curriculum,
    )
    result = session.check(clean(workspace.folder.resolve().name), workspace.folder, options)
    badge_lines = workspace.record(result, save=workspace.is_initialized) if seed == 0 else []
    return result, badge_lines


def statuses_of(workspace: Workspace, functions: tuple[str, ...]) -> dict[str, Status]:
    """Return the status of each function, checking those whose code has changed since they were checked."""
    unknown = tuple(name for name in functions if name not in workspace.statuses)
    if unknown:
        check_workspace(workspace, unknown)
    statuses = workspace.statuses
    return {name: statuses[name] for name in functions if name in statuses}


def next_step(workspace: Workspace, result: SubmissionResult) -> str | None:
    """Return what to do after a result in which everything passed; None if the next function's file is missing.

    After the last function of an assignment this includes the experiment at the end of its file, if there still is one.
    """
    statuses = workspace.statuses | {check.function: "passed" for check in result.checks}
    order = list(workspace.curriculum.functions)
    last_checked = max((check.function for check in result.checks), key=order.index, default=None)
    experiment = _experiment_hint(workspace, last_checked, statuses)
    name = progress.next_unfinished(statuses, workspace.curriculum, last_checked)
    if name is None:
        return f"You have finished the course: every function passes.{experiment}"
    module, _, function = name.partition(".")
    if module not in workspace.snapshot.modules:
        return None
    if workspace.snapshot.is_stub(name):
        return (
            f"Next: write {function} in {module}.py, then: headway check {name}\nStuck? headway hint {name}{experiment}"
        )
    return f"Next: {name}, which has not passed yet: headway check {name}{experiment}"


def _experiment_hint(workspace: Workspace, function: str | None, statuses: Mapping[str, Status]) -> str:
    module = (function or "").partition(".")[0]
    source = workspace.snapshot.modules.get(module)
    if source is None or EXPERIMENT.encode() not in source.content:
        return ""
    if module not in progress.passed_assignments(statuses, workspace.curriculum):
        return ""
    return f"\n{module}.py ends with an experiment. Predict it, then run: python {module}.py"

"""Check a workspace, record the results, and decide what to do next."""

from autograder.core.text import clean_name
from autograder.documents.results import Status, SubmissionResult
from autograder.engine import session
from autograder.report.assignment_finished import FinishedAssignment
from autograder.sandbox import Limits
from autograder.workspace import progress
from autograder.workspace.finished import finished_assignment
from autograder.workspace.workspace import Workspace


def check_workspace(
    workspace: Workspace, functions: tuple[str, ...], *, seed: int = 0, limits: Limits | None = None
) -> tuple[SubmissionResult, list[str]]:
    """Check functions; record results on public inputs in a workspace of `headway init`; return badge lines, too.

    The notes of the result say which version of an assignment was checked, where it is not simply its file.
    """
    workspace.refresh_snapshot()
    curriculum = workspace.curriculum
    some = functions if len(functions) < len(curriculum.functions) else None
    options = session.Options(functions=some, seed=seed, limits=limits or Limits(), curriculum=curriculum)
    result = session.check(clean_name(workspace.folder.resolve().name), workspace.module_folder, options)
    workspace.locate(result)
    result.notes[:0] = workspace.describe_sources(dict.fromkeys(name.partition(".")[0] for name in functions))
    save = workspace.is_initialized and not workspace.checks_other_version
    badge_lines = workspace.record(result, save=save) if seed == 0 else []
    return result, badge_lines


def statuses_of(workspace: Workspace, functions: tuple[str, ...]) -> dict[str, Status]:
    """Return the status of each function, checking those whose code has changed since they were checked."""
    unknown = tuple(name for name in functions if name not in workspace.statuses)
    if unknown:
        check_workspace(workspace, unknown)
    statuses = workspace.statuses
    return {name: statuses[name] for name in functions if name in statuses}


def next_step(workspace: Workspace, result: SubmissionResult) -> str | None:
    """Return the next step when everything passed; None if its file is missing."""
    statuses, last_checked = _after(workspace, result)
    name = progress.next_unfinished(statuses, workspace.curriculum, last_checked or None)
    if name is None:
        return "You have finished the course: every function passes."
    module, _, function = name.partition(".")
    if module not in workspace.snapshot.modules:
        return None
    if workspace.snapshot.is_stub(name):
        task = f"Next: write {function} in {workspace.file_of(module)}, then: headway check {name}"
        return f"{task}\nStuck? headway hint {name}"
    return f"Next: {name}, which has not passed yet: headway check {name}"


def newly_finished(workspace: Workspace, result: SubmissionResult) -> FinishedAssignment | None:
    """Return what to show if everything passed and the last assignment that was checked is complete."""
    statuses, last_checked = _after(workspace, result)
    return finished_assignment(workspace, last_checked.partition(".")[0], statuses) if result.passed else None


def _after(workspace: Workspace, result: SubmissionResult) -> tuple[dict[str, Status], str]:
    """Return the statuses when everything passed, and the last function that was checked; empty if there is none."""
    statuses: dict[str, Status] = {**workspace.statuses, **{check.function: "passed" for check in result.checks}}
    order = list(workspace.curriculum.functions)
    return statuses, max((check.function for check in result.checks), key=order.index, default="")

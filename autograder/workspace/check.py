"""Check a workspace, record the results, and decide what to do next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.core.text import clean_name
from autograder.documents.reading import Document
from autograder.documents.records import FinishedAssignment
from autograder.documents.results import Status, SubmissionResult, to_document
from autograder.engine import session
from autograder.report import wording
from autograder.sandbox.limits import Limits
from autograder.workspace import progress
from autograder.workspace.finished import finished_assignment
from autograder.workspace.workspace import Workspace


@dataclass(frozen=True)
class CheckOutcome:
    """What a check found, and what follows from it."""

    result: SubmissionResult
    document: Document  # the same as a result document, which reports show
    badge_lines: list[str] = field(default_factory=list)
    next_step: str = ""
    finished: FinishedAssignment | None = None  # the assignment of the last function, if all of it passes


def check_workspace(
    workspace: Workspace, functions: tuple[str, ...], *, seed: int = 0, limits: Limits | None = None
) -> CheckOutcome:
    """Check functions, and record the results on public inputs in a workspace of `headway init`.

    The notes of the result say which version of an assignment was checked, where it is not simply its file.
    """
    workspace.refresh_snapshot()
    curriculum = workspace.curriculum
    some = functions if len(functions) < len(curriculum.functions) else None
    options = session.Options(some, seed, limits or Limits(), curriculum, sandbox=workspace.sandbox)
    result = session.check(clean_name(workspace.folder.resolve().name), workspace.module_folder, options)
    workspace.locate(result)
    result.notes[:0] = workspace.describe_sources(dict.fromkeys(name.partition(".")[0] for name in functions))
    document = to_document(result, curriculum)
    last = max((check.function for check in result.checks), key=list(curriculum.functions).index, default=None)
    badge_lines: list[str] = []
    if seed == 0:
        save = workspace.is_initialized and all(source.reason != "named" for source in workspace.sources.values())
        # The function that the report names is the one to work on; after a pass, the last one that was checked.
        current = wording.next_function(document) or last
        badge_lines = workspace.record(result, current_function=current, save=save)
        if not workspace.is_initialized and workspace.folder.resolve() == Path.cwd():
            result.notes.append("Nothing was recorded: this folder is no workspace. To make it one: headway init .")
    result.notes += workspace.state.notes
    if not result.passed:
        notebooks = {module: workspace.file_of(module) for module in workspace.notebook_modules}
        return CheckOutcome(result, document, badge_lines, wording.next_step(document, notebooks=notebooks))
    statuses: dict[str, Status] = {**workspace.statuses, **{check.function: "passed" for check in result.checks}}
    finished = finished_assignment(workspace, (last or "").partition(".")[0], statuses)
    following = wording.next_step(document, _next_step(workspace, statuses, last))
    return CheckOutcome(result, document, badge_lines, following, finished)


def statuses_of(workspace: Workspace, functions: tuple[str, ...]) -> dict[str, Status]:
    """Return the status of each function, checking those whose code has changed since they were checked."""
    unknown = tuple(name for name in functions if name not in workspace.statuses)
    if unknown:
        check_workspace(workspace, unknown)
    statuses = workspace.statuses
    return {name: statuses[name] for name in functions if name in statuses}


def _next_step(workspace: Workspace, statuses: Mapping[str, Status], last_checked: str | None) -> str | None:
    """Return the next step when everything passed; None if its file is missing."""
    name = progress.next_unfinished(statuses, workspace.curriculum, last_checked)
    if name is None:
        return "You have finished the course: every function passes."
    module, _, function = name.partition(".")
    if module not in workspace.snapshot.modules:
        return None
    if workspace.snapshot.is_stub(name):
        task = f"Next: write {function} in {workspace.file_of(module)}, then: headway check {name}"
        return f"{task}\nStuck? headway hint {name}"
    return f"Next: {name}, which has not passed yet: headway check {name}"

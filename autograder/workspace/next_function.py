"""Decide which function to work on next: what `check` names, and what `hint` and `list` take without a name."""

from autograder.documents.reading import Document
from autograder.report import wording
from autograder.workspace import progress
from autograder.workspace.workspace import Workspace


def function_to_work_on(workspace: Workspace) -> str | None:
    """Return the function of the latest check or of the watch screen; if it passes, the next one that does not."""
    statuses = workspace.statuses
    current = workspace.current_function
    if current is not None and statuses.get(current) != "passed":
        return current
    return progress.next_unfinished(statuses, workspace.curriculum, current)


def record_after_check(workspace: Workspace, document: Document) -> None:
    """Make the function that the report of a check names the one to work on; after a pass, the last one checked."""
    if not workspace.is_initialized or not workspace.has_recorded_course or workspace.checks_other_version:
        return
    name = wording.next_function(document)
    if name is None:
        checked = [check["function"] for check in wording.all_checks(document)]
        name = max(checked, key=list(workspace.curriculum.functions).index, default=None)
    if name is not None:
        workspace.record_current_function(name)

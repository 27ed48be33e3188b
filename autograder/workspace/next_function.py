"""Decide which function to work on next: what `hint` and `list` take without a name."""

from autograder.workspace import progress
from autograder.workspace.workspace import Workspace


def function_to_work_on(workspace: Workspace) -> str | None:
    """Return the function of the latest check or of the watch screen; if it passes, the next one that does not."""
    statuses = workspace.statuses
    current = workspace.current_function
    if current is not None and statuses.get(current) != "passed":
        return current
    return progress.next_unfinished(statuses, workspace.curriculum, current)

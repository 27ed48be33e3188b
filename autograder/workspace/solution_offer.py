"""Decide when the watch screen and `headway hint` offer a solution, and record that one was shown."""

from autograder.errors import UsageError
from autograder.workspace import hints, solutions
from autograder.workspace.workspace import Workspace


def offers_solution(workspace: Workspace, function: str, passes: bool) -> bool:
    """Return whether a solution may be shown now: the code passes, or the last hint was seen and the rule allows it."""
    try:
        rule = solutions.solution_rule(workspace.folder)
    except UsageError:
        return False
    if passes or function in workspace.state.section(solutions.GAVE_UP):
        return rule != "never"
    steps = hints.steps(function, workspace.curriculum.package)
    return rule == "give-up" and hints.shown_count(workspace.state.section(hints.KEY), function) >= len(steps)


def record_giving_up(workspace: Workspace, function: str, passes: bool, *, give_up: bool) -> None:
    """Record that the solution of a function is shown before it passes; raise UsageError unless it may be shown."""
    workspace.state.refresh()
    passed = {function} if passes else set[str]()
    if solutions.require_solution_allowed(workspace.folder, (function,), passed, give_up, workspace.state):
        workspace.state.save()

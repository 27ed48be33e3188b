"""Commands that show the solution: solution, diff."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli.completion import CourseName
from autograder.cli.options import console_for, interruptible, no_color_option, open_workspace, workspace_option

if TYPE_CHECKING:
    from autograder.workspace.workspace import Workspace


def _solution_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and the options of a command that shows a solution."""
    for option in (
        interruptible,
        no_color_option,
        click.option("--give-up", is_flag=True, help="Show it before your code passes; this is recorded."),
        workspace_option,
        click.argument("name", metavar="NAME", type=CourseName()),
    ):
        function = option(function)
    return function


def _require_solutions_allowed(workspace: "Workspace", name: str, give_up: bool) -> tuple[str, ...]:
    """Return the functions that `name` stands for; raise UsageError unless their solutions may be shown.

    Functions that have changed since they were checked are checked now.
    """
    from autograder.workspace import solutions
    from autograder.workspace.check import statuses_of

    workspace.require_assignments()
    selected = workspace.curriculum.select([name])
    passed = {function for function, status in statuses_of(workspace, selected).items() if status == "passed"}
    if solutions.require_solution_allowed(workspace.folder, selected, passed, give_up, workspace.state):
        workspace.state.save()
    return selected


@click.command()
@_solution_options
def solution(name: str, folder: Path, give_up: bool, no_color: bool) -> None:
    """Show the solution, once your code passes."""
    from autograder.workspace import solutions

    workspace = open_workspace(folder)
    _require_solutions_allowed(workspace, name, give_up)
    text = solutions.solution_of(workspace.resolve_name(name), workspace.curriculum)
    console = console_for(no_color)
    if console.is_terminal and console.color_system:
        from rich.syntax import Syntax

        console.print(Syntax(text, "python", theme="ansi_dark", background_color="default"))
    else:
        click.echo(text, nl=False)


@click.command()
@_solution_options
def diff(name: str, folder: Path, give_up: bool, no_color: bool) -> None:
    """Compare your code with the solution, once it passes."""
    from autograder.report import diff as diff_report
    from autograder.workspace import solutions

    workspace = open_workspace(folder)
    console = console_for(no_color)
    for function in _require_solutions_allowed(workspace, name, give_up):
        mine, theirs = solutions.student_and_solution(folder, function, workspace.curriculum)
        diff_report.render(function, list(solutions.compare_lines(mine, theirs)), console)

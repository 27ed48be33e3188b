"""The views that keys of `headway watch` open over everything else: the solution and the comparison."""

from rich.console import Group, RenderableType
from rich.text import Text

from autograder.report import diff
from autograder.workspace import solutions
from autograder.workspace.function_source import without_docstring
from autograder.workspace.workspace import Workspace


def solution_view(workspace: Workspace, function: str, width: int) -> RenderableType:
    """Return the solution of a function."""
    from rich.syntax import Syntax

    # The documentation is on the screen before this one.
    code = without_docstring(solutions.solution_of(function, workspace.curriculum), function.partition(".")[2])
    highlighted = Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)
    return Group(Text.assemble((function, "bold"), " · the solution\n"), highlighted)


def diff_view(workspace: Workspace, function: str, width: int) -> RenderableType:
    """Return the comparison of the student's code with the solution."""
    mine, theirs = solutions.student_and_solution(workspace, function)
    return diff.comparison(function, list(solutions.compare_lines(mine, theirs)), width, folded=True)

"""The views that keys of `headway watch` open over everything else: the solution, the comparison, the help."""

from rich.console import Group, RenderableType
from rich.text import Text

from autograder.report import diff, watch_body
from autograder.report.check_report import STATUS_STYLES
from autograder.report.watch_screen import LAST_KEYS, SCROLL_KEYS
from autograder.report.watch_state import KEYS
from autograder.report.wording import STATUS_WORDS
from autograder.workspace import solutions
from autograder.workspace.function_source import without_docstring
from autograder.workspace.workspace import Workspace


def help_view(width: int) -> RenderableType:
    """Return all keys and marks."""
    keys = {**KEYS, **LAST_KEYS}
    rows = [(key, meaning) for key, (_, meaning) in keys.items()]
    rows.append((SCROLL_KEYS, "scroll, where not everything fits"))
    marks = {mark: (style, STATUS_WORDS[status]) for status, (mark, style) in STATUS_STYLES.items()}
    return watch_body.help_view(rows, marks)


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

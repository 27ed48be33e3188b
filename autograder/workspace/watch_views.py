"""What a key of `headway watch` shows in place of everything else: the solution, the comparison with it, the help."""

from rich.console import Group, RenderableType
from rich.text import Text

from autograder.errors import UsageError
from autograder.report import diff, watch_body
from autograder.report.check_report import STATUS_STYLES
from autograder.report.watch_screen import KEYS, LAST_KEYS, SCROLL_KEYS
from autograder.report.wording import STATUS_WORDS
from autograder.workspace import hints, solutions
from autograder.workspace.function_source import without_docstring
from autograder.workspace.workspace import Workspace


def help_view() -> RenderableType:
    """Return all keys and marks."""
    keys = {**KEYS, **LAST_KEYS}
    rows = [(key, meaning) for key, (_, meaning) in keys.items()]
    rows.append((SCROLL_KEYS, "scroll, where not everything fits"))
    marks = {mark: (style, STATUS_WORDS[status]) for status, (mark, style) in STATUS_STYLES.items()}
    return watch_body.help_view(rows, marks)


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


def solution_view(workspace: Workspace, function: str) -> RenderableType:
    """Return the solution of a function."""
    from rich.syntax import Syntax

    # The documentation is on the screen before this one.
    code = without_docstring(solutions.solution_of(function, workspace.curriculum), function.partition(".")[2])
    highlighted = Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)
    return Group(Text.assemble((function, "bold"), " · the solution\n"), highlighted)


def diff_view(workspace: Workspace, function: str, width: int) -> RenderableType:
    """Return the comparison of the student's code with the solution."""
    mine, theirs = solutions.student_and_solution(workspace.folder, function, workspace.curriculum)
    return diff.comparison(function, list(solutions.compare_lines(mine, theirs)), width, folded=True)

"""The workspace of a running notebook: progress, hints and solutions, by the rules of the commands of these names."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.core.safe_output import echo
from autograder.course import Curriculum
from autograder.documents.results import CheckResult, SubmissionResult
from autograder.errors import UsageError
from autograder.workspace import hints, solutions
from autograder.workspace.dependencies import ModuleSource, Snapshot
from autograder.workspace.state import State
from autograder.workspace.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 96
_state_without_workspace = State(Path())  # the hints shown by this kernel, where there is no workspace to remember them


def find_workspace(folder: Path) -> Workspace | None:
    """Return the workspace of a notebook in `folder`: this folder or the one above, if `headway init` made it."""
    for place in (folder, folder.parent):
        workspace = Workspace.open(place)
        if workspace.is_initialized:
            return workspace
    return None


def record_checks(folder: Path, checks: Sequence[CheckResult], texts: Mapping[str, str], own: set[str]) -> list[str]:
    """Record results in the workspace, if there is one, for the code that was checked; return a line for each badge.

    Args:
        texts: the modules of the notebook and those that they import, as they were checked.
        own: the modules that come from the notebook.
    """
    workspace = find_workspace(folder)
    if workspace is None or not workspace.has_recorded_course:
        return []
    sources = {name: ModuleSource(name, text.encode("utf-8", "replace")) for name, text in texts.items()}
    workspace.snapshot = Snapshot(sources, workspace.curriculum)
    recorded = [check for check in checks if check.function.partition(".")[0] in own]
    return workspace.record(SubmissionResult("", "", 0, recorded))


def show_hint(function: str, curriculum: Curriculum, folder: Path, more: int) -> None:
    """Print the hints of a function that were shown before, at least the first, and `more` further ones."""
    from autograder.report import help_texts

    steps = hints.require_steps(function, curriculum.package)
    workspace = find_workspace(folder)
    state = workspace.state if workspace else _state_without_workspace
    count = hints.show_more(state, function, more, save=workspace is not None)
    name = function.partition(".")[2]
    shown = list(zip(hints.KINDS, steps, strict=True))[:count]
    _print_with(lambda console: help_texts.render_hints(
        function, shown, len(steps), (f"check({name})", f"hint({name}, more=True)"), console
    ))  # fmt: skip


def show_progress(selected: tuple[str, ...], curriculum: Curriculum, folder: Path, statuses: Mapping[str, str]) -> None:
    """Print the progress recorded in the workspace; elsewhere, the functions that pass in this notebook."""
    from autograder.report import progress_table

    workspace = find_workspace(folder)
    if workspace is None or not workspace.has_recorded_course:
        passed = [name for name in selected if statuses.get(name) == "passed"]
        names = f": {', '.join(passed)}" if passed else ""
        echo(f"{len(passed)} of {len(selected)} functions pass in this notebook{names}")
        return
    entries = workspace.progress
    stale = frozenset(entries.keys() - workspace.statuses.keys())
    total = len(workspace.curriculum.functions)
    _print_with(lambda console: progress_table.render(curriculum, selected, console, entries, stale, total))
    for line in workspace.describe_sources(dict.fromkeys(name.partition(".")[0] for name in selected)):
        echo(line)


def show_solution(function: str, curriculum: Curriculum, folder: Path, passes: bool, give_up: bool) -> None:
    """Print the solution of a function if it passes, or if the student gives up, which is recorded."""
    workspace = find_workspace(folder)
    if workspace is None:
        raise UsageError("solutions are shown in the notebooks of a workspace. Create one: headway init my-gpt")
    name = function.partition(".")[2]
    passed = {qualified for qualified, status in workspace.statuses.items() if status == "passed"}
    passed |= {function} if passes else set()
    try:
        solutions.require_solutions_allowed(workspace, [function], passed, give_up=give_up)
    except solutions.SolutionRefused as error:
        if error.rule == "never":
            raise UsageError(f"your instructor has disabled solutions. Ask for a hint: hint({name})") from None
        now = f". To see the solution now (this is recorded): solution({name}, give_up=True)"
        later = " (your instructor shows solutions only after they pass)"
        ending = now if error.rule == "give-up" else later
        raise UsageError(f"{function} does not pass yet. Ask for a hint: hint({name}, more=True){ending}") from None
    echo(solutions.solution_of(function, curriculum), end="")


def _print_with(render: "Callable[[Console], None]") -> None:
    """Print as plain text, which every notebook editor shows alike."""
    from autograder.report.console import SafeConsole

    render(SafeConsole(width=WIDTH, force_jupyter=False, color_system=None))

"""Commands that report what to do and how: list, hint."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import options
from autograder.cli.completion import CourseName
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.workspace.workspace import Workspace


@click.command("list")
@click.argument("names", metavar="[NAME]...", nargs=-1, type=CourseName())
@options.workspace_folder
@click.option("--open", "only_open", is_flag=True, help="List only functions that do not pass yet.")
@click.option("--done", "only_done", is_flag=True, help="List only functions that pass.")
@click.option("--terms", is_flag=True, help="Explain the terms of the lessons; NAME may be a term.")
@options.curriculum
@options.no_color
def list_(names: tuple[str, ...], folder: Path, only_open: bool, only_done: bool, terms: bool) -> None:
    """Show your progress.

    These are the results of the latest checks; nothing is checked now.
    """
    from autograder.report import progress_table

    workspace = options.open_workspace(folder)
    console = options.make_console()
    if terms:
        from autograder.report import course_table
        from autograder.workspace import glossary

        course_table.render(glossary.select(names, workspace.curriculum), workspace.curriculum, console)
        return
    selected = workspace.curriculum.select(names)
    if not workspace.has_assignments or not workspace.has_recorded_course:
        progress_table.render(workspace.curriculum, selected, console)
        return
    entries = workspace.progress
    passed = {name for name, entry in entries.items() if entry.status == "passed"}
    listed = tuple(name for name in selected if not (only_open if name in passed else only_done))
    stale = frozenset(entries.keys() - workspace.statuses.keys())
    progress_table.render(workspace.curriculum, listed, console, entries, stale, len(selected))
    for line in workspace.describe_sources(dict.fromkeys(function.partition(".")[0] for function in listed)):
        click.echo(line)
    for note in workspace.state.notes:
        click.echo(f"! {note}", err=True)


@click.command()
@click.argument("name", metavar="[NAME]", required=False, type=CourseName())
@click.option("--more", count=True, help="Show one hint more than before; repeat for further ones.")
@click.option("--dir", "folder", type=options.PATH, help="Your workspace (default: this folder).")
@options.curriculum
@options.no_color
def hint(name: str | None, more: int, folder: Path | None) -> None:
    """Show the next hint for a function.

    Without NAME, this is the function you are working on. A workspace remembers which hints you have seen; elsewhere,
    --more counts from the first hint.
    """
    from autograder.report import hints as hints_report
    from autograder.workspace import hints, state

    workspace = options.open_workspace(folder or Path())
    curriculum = workspace.curriculum
    selected = curriculum.select([name or _current_function(workspace)])
    if folder is not None:
        workspace.require_assignments()
    dir_option = "" if folder is None else f" --dir {shlex.quote(str(folder))}"
    remembers = workspace.has_assignments
    # Outside a workspace nothing is remembered, so every call starts from an empty state.
    recorded = workspace.state if remembers else state.State(workspace.folder)
    console = options.make_console()
    if len(selected) > 1:
        counts = {function: hints.shown_count(recorded.section(hints.KEY), function) for function in selected}
        commands = [f"headway hint {function}{dir_option}" for function in selected]
        hints_report.render_choice(curriculum.functions[selected[0]].module, counts, commands, console)
    else:
        (function,) = selected
        steps = hints.steps(function, curriculum.package)
        if not steps:
            raise UsageError(f"this course has no hints for {function}. Read its docstring")
        count = hints.next_count(hints.shown_count(recorded.section(hints.KEY), function), more)
        if remembers:
            hints.record_shown(recorded, function, count)
        repeat = " --more" * (1 if remembers else more + 1)
        commands = [f"headway check {function}{dir_option}", f"headway hint {function}{repeat}{dir_option}"]
        kinds_and_steps = list(zip(hints.KINDS, steps, strict=True))
        hints_report.render(function, kinds_and_steps[:count], len(steps), commands, console)
    if remembers:
        hints_report.render_notes(recorded.notes, options.make_console(stderr=True))


def _current_function(workspace: "Workspace") -> str:
    """Return the function that the student works on: the last one watched, else the first that does not pass."""
    from autograder.workspace import progress

    name = workspace.current_function
    if name is None and workspace.has_assignments:
        latest_statuses = {name: entry.status for name, entry in workspace.progress.items()}
        name = progress.next_unfinished(latest_statuses, workspace.curriculum)
    if name is None:
        raise UsageError("name a function, for example: headway hint softmax.softmax. List them all: headway list")
    return name

"""Commands that report what to do and how: list, hint."""

import shlex
from pathlib import Path

import click

from autograder.cli import options
from autograder.errors import UsageError


@click.command("list")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=options.complete_name)
@options.workspace_folder
@click.option("--open", "only_open", is_flag=True, help="List only functions that do not pass yet.")
@click.option("--done", "only_done", is_flag=True, help="List only functions that pass.")
@click.option("--all", "every", is_flag=True, help="List every function, not only those of the current assignment.")
@click.option("--terms", is_flag=True, help="Explain the terms of the lessons; NAME may be a term.")
@options.curriculum
def list_(names: tuple[str, ...], folder: Path, only_open: bool, only_done: bool, every: bool, terms: bool) -> None:
    """Show your progress.

    These are the results of the latest checks; nothing is checked now. Each assignment has one line; the functions of
    the assignment you are working on are listed, too, and those of others with --all or by name.
    """
    from autograder.report import progress_table

    workspace = options.open_workspace(folder)
    console = options.make_console()
    if terms:
        from autograder.course import glossary
        from autograder.report import help_texts

        help_texts.render_by_assignment(glossary.select(names, workspace.curriculum), workspace.curriculum, console)
        return
    selected = workspace.curriculum.select(names)
    is_folded = not (names or only_open or only_done or every)
    if not workspace.has_assignments or not workspace.has_recorded_course:
        progress_table.render(workspace.curriculum, selected, console, unfolded=() if is_folded else None)
        return
    entries = workspace.progress
    passed = {name for name, entry in entries.items() if entry.status == "passed"}
    listed = tuple(name for name in selected if not (only_open if name in passed else only_done))
    stale = frozenset(entries.keys() - workspace.statuses.keys()) | workspace.unchecked
    current = workspace.function_to_work_on if is_folded else None
    unfolded = {current.partition(".")[0]} if current else set[str]()
    progress_table.render(
        workspace.curriculum, listed, console, entries, stale, len(selected), unfolded if is_folded else None
    )
    for line in workspace.describe_sources(dict.fromkeys(function.partition(".")[0] for function in listed)):
        click.echo(line)
    for note in workspace.state.notes:
        click.echo(f"! {note}", err=True)


@click.command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=options.complete_name)
@click.option("--more", count=True, help="Show one hint more than before; repeat for further ones.")
@click.option("--dir", "folder", type=options.PATH, help="Your workspace (default: this folder).")
@options.curriculum
def hint(name: str | None, more: int, folder: Path | None) -> None:
    """Show the next hint for a function.

    Without NAME, this is the function you are working on. A workspace remembers which hints you have seen; elsewhere,
    --more counts from the first hint.
    """
    from autograder.core.points import format_points
    from autograder.report import help_texts
    from autograder.workspace import hints, solutions, state

    workspace = options.open_workspace(folder or Path())
    curriculum = workspace.curriculum
    name = name or (workspace.function_to_work_on if workspace.has_assignments else workspace.current_function)
    if name is None:
        raise UsageError("name a function, for example: headway hint softmax.softmax. List them all: headway list")
    selected = curriculum.select([name])
    if folder is not None:
        workspace.require_assignments()
    dir_option = "" if folder is None else f" --dir {shlex.quote(str(folder))}"
    remembers = workspace.has_assignments
    # Outside a workspace nothing is remembered, so every call starts from an empty state.
    recorded = workspace.state if remembers else state.State(workspace.folder)
    console = options.make_console()
    if len(selected) > 1:
        counts = {function: hints.shown_count(recorded, function) for function in selected}
        choices = [f"headway hint {function}{dir_option}" for function in selected]
        help_texts.render_hint_choice(curriculum.functions[selected[0]].module, counts, choices, console)
    else:
        (function,) = selected
        steps = hints.require_steps(function, curriculum.package)
        count = hints.show_more(recorded, function, more, save=remembers)
        repeat = " --more" * (1 if remembers else more + 1)
        commands = f"headway check {function}{dir_option}", f"headway hint {function}{repeat}{dir_option}"
        kinds_and_steps = list(zip(hints.KINDS, steps, strict=True))
        entry = workspace.progress[function] if function in workspace.statuses else None
        passes = entry is not None and entry.status == "passed"
        solution = None
        if remembers and solutions.offers_solution(workspace, function, passes):
            solution = f"headway solution {function}{'' if passes else ' --give-up'}{dir_option}"
        points = f"{format_points(entry.earned)} of {format_points(entry.possible)} points" if entry else ""
        steps_so_far = kinds_and_steps[:count]
        help_texts.render_hints(function, steps_so_far, len(steps), commands, console, solution, points, passes=passes)
    for note in recorded.notes if remembers else ():
        click.echo(f"! {note}", err=True)

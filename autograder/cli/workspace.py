"""Commands of a student's workspace: init, check, list, hint."""

import sys
from pathlib import Path

import click

from autograder.cli.completion import complete_names
from autograder.cli.options import (
    INTERNAL_ERROR,
    NOT_PASSED,
    PASSED,
    checking_message,
    console_for,
    curriculum_option,
    interruptible,
    json_option,
    no_color_option,
    preload,
    selected_curriculum,
    submission_option,
    workspace_option,
    write_json,
)
from autograder.errors import UsageError


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@curriculum_option
def init(folder: Path) -> None:
    """Make a workspace: stubs, notebooks, editor settings.

    Never overwrites work.
    """
    from autograder.cli import diagnostics
    from autograder.workspace.create import create

    lines = create(folder, selected_curriculum(folder))
    for finding in diagnostics.tool_chain():
        if not finding.ok:
            click.echo(f"! {finding.name}: {finding.text}. {finding.fix}", err=True)
    for line in lines:
        click.echo(line)


@click.command()
@click.argument("names", metavar="[NAME[.function]]...", nargs=-1, shell_complete=complete_names)
@submission_option
@click.option("--seed", type=click.IntRange(0), default=0, help="Draw fresh inputs; 0 is the public set.")
@click.option(
    "--call-seconds", type=click.FloatRange(0.05), default=10.0, show_default=True, help="Time limit of one call."
)
@click.option("--all", "all_panels", is_flag=True, help="Show every failed check, not the first few.")
@curriculum_option
@json_option
@no_color_option
@interruptible
def check(
    names: tuple[str, ...],
    folder: Path,
    seed: int,
    call_seconds: float,
    all_panels: bool,
    json_file: str | None,
    no_color: bool,
) -> None:
    """One verdict: on everything, assignments or functions.

    Exit code 0: all passed; 1: some check did not pass; 2: wrong usage; 3: the kit itself failed.
    """
    from autograder import results
    from autograder.core.text import clean
    from autograder.engine import session
    from autograder.sandbox import Limits

    curriculum = selected_curriculum(folder)
    selected = curriculum.select(names)
    session.require_folder(folder, curriculum)
    limits = Limits(call_seconds=call_seconds)
    options = session.Options(functions=selected if names else None, seed=seed, limits=limits, curriculum=curriculum)
    from autograder.workspace import check as check_once
    from autograder.workspace import dependencies

    snapshot = dependencies.take(folder, curriculum)
    preload("autograder.report.check_report")
    with checking_message():
        result = session.check(clean(folder.resolve().name), folder, options)
    news = check_once.remember(folder, snapshot, result)
    document = results.to_document(result, curriculum)
    if json_file:
        write_json(json_file, document)
    from autograder.report import check_report

    console = console_for(no_color, stderr=json_file == "-")
    following = check_once.following(folder, snapshot, result) if result.passed else None
    check_report.render(document, console, all_panels=all_panels, when_passed=following)
    for line in news:
        console.print(line, style="bold", markup=False)
    sys.exit(INTERNAL_ERROR if result.internal_errors else PASSED if result.passed else NOT_PASSED)


@click.command("list")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_names)
@workspace_option
@click.option("--open", "only_open", is_flag=True, help="Only what does not pass yet.")
@click.option("--done", "only_done", is_flag=True, help="Only what passes.")
@click.option("--terms", is_flag=True, help="What the words of the lessons mean; NAME may be one of them.")
@curriculum_option
@no_color_option
def list_(names: tuple[str, ...], folder: Path, only_open: bool, only_done: bool, terms: bool, no_color: bool) -> None:
    """How far you are: assignments, functions, points, since when.

    It tells what the latest checks found and checks nothing itself.
    """
    from autograder.report import progress_table
    from autograder.workspace import dependencies, progress, state

    curriculum = selected_curriculum(folder)
    if terms:
        from autograder.report import glossary as view
        from autograder.workspace import glossary

        view.render(glossary.select(names, curriculum), curriculum, console_for(no_color))
        return
    selected = curriculum.select(names)
    remembered = state.load(folder)
    if not state.is_workspace(folder) or curriculum != remembered.curriculum:
        progress_table.render(curriculum, selected, console_for(no_color))
        return
    entries = progress.load(remembered)
    passed = {name for name, entry in entries.items() if entry.status == "passed"}
    kept = tuple(n for n in selected if not (only_open and n in passed) and not (only_done and n not in passed))
    stale = set(entries) - set(progress.valid(entries, dependencies.take(folder, curriculum).prints))
    progress_table.render(curriculum, kept, console_for(no_color), entries, frozenset(stale), len(selected))
    for note in remembered.notes:
        click.echo(f"! {note}", err=True)


def _in_hand(folder: Path) -> str:
    """The function that is being worked on in a workspace: the last one watched, else the first that does not pass."""
    from autograder.workspace import progress, state

    remembered = state.load(folder)
    found = progress.in_hand(remembered)
    if found is None and state.is_workspace(folder):
        statuses = {name: entry.status for name, entry in progress.load(remembered).items()}
        found = progress.next_open(statuses, remembered.curriculum)
    if found is None:
        raise UsageError("which function? For example: headway hint softmax.softmax. All of them: headway list")
    return found


@click.command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=complete_names)
@click.option("--more", count=True, help="One hint more than those shown so far.")
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Your workspace (default: this folder).")
@curriculum_option
@no_color_option
def hint(name: str | None, more: int, folder: Path | None, no_color: bool) -> None:
    """Hints for a function: a question, the idea, the shape.

    Without a name it is the function in hand in your workspace. What was shown is remembered there; elsewhere --more
    counts from the first hint.
    """
    import shlex

    from autograder.report import hints as view
    from autograder.workspace import hints, state

    curriculum = selected_curriculum(folder or Path())
    selected = curriculum.select([name or _in_hand(folder or Path())])
    where = "" if folder is None else f" --dir {shlex.quote(str(folder))}"
    if folder is not None:
        from autograder.engine import session

        session.require_folder(folder, curriculum)
    here = folder or Path()
    remembered = state.load(here) if state.is_workspace(here) else None
    section = remembered.section(hints.KEY) if remembered else {}
    console = console_for(no_color)
    if len(selected) > 1:
        counts = {function: hints.shown(section, function) for function in selected}
        module = curriculum.functions[selected[0]].module
        view.render_choice(module, counts, [f"headway hint {function}{where}" for function in selected], console)
    else:
        (function,) = selected
        known = hints.steps(function, curriculum.package)
        if not known:
            raise UsageError(f"the course has no hints for {function}. Its docstring says what it must do")
        already = hints.shown(section, function)
        count = hints.next_count(already, more)
        if remembered and count != already:
            section[function] = count
            remembered.save()
        steps = list(zip(hints.KINDS, known, strict=True))
        again = " --more" * (1 if remembered else more + 1)
        asks = (f"headway check {function}{where}", f"headway hint {function}{again}{where}")
        view.render(function, steps[:count], len(steps), asks, console)
    if remembered:
        view.render_notes(remembered.notes, console_for(no_color, stderr=True))

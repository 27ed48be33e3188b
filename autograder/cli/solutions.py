"""Commands of the student's loop: watch, and what surrounds it: reset, solution, diff, update, submit."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli.completion import complete_names
from autograder.cli.options import (
    PASSED,
    console_for,
    interruptible,
    no_color_option,
    selected_curriculum,
    workspace_option,
)
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.curriculum import Curriculum

NAME_ARGUMENT = click.argument("name", metavar="NAME", shell_complete=complete_names)


@click.command()
@workspace_option
@click.option("--poll", is_flag=True, help="Look at the files four times a second: for network file systems.")
@click.option("--plain", is_flag=True, help="Line by line, without keys: for screen readers and logs.")
@no_color_option
def watch(folder: Path, poll: bool, plain: bool, no_color: bool) -> None:
    """Check on every save what the save can have changed.

    Keys for next, hints, list and more stand on the screen; q ends it.
    """
    watch_folder(folder, poll=poll, plain=plain, no_color=no_color)


def watch_folder(folder: Path, *, poll: bool = False, plain: bool = False, no_color: bool = False) -> None:
    """Watch a workspace until it is ended."""
    from autograder.engine import session
    from autograder.workspace import watch as loop
    from autograder.workspace import watch_plain

    session.require_folder(folder, selected_curriculum(folder))
    if plain or not loop.can_be_interactive():
        watch_plain.run(folder.resolve(), poll=poll, console=console_for(no_color))
    else:
        loop.run(folder.resolve(), poll=poll, no_color=no_color)


@interruptible
def welcome(folder: Path) -> None:
    """What `headway` alone says the first time in a workspace; then it watches."""
    from autograder.curriculum import registry
    from autograder.workspace import state

    remembered = state.load(folder)
    if not remembered.content.get("welcomed") and sys.stdin.isatty() and sys.stdout.isatty():
        from autograder.workspace import file_watcher, terminal

        click.echo("\nWelcome to Headway.\n")
        click.echo((ABOUT if remembered.curriculum == registry.default() else "") + HOW)
        click.echo("Press any key to begin, or save one of the files. ", nl=False)
        before = file_watcher.stamps(folder)
        terminal.key_or(lambda: file_watcher.stamps(folder) != before)
        click.echo()
        remembered = state.load(folder)
        remembered.content["welcomed"] = True
        remembered.save()
    watch_folder(folder)


ABOUT = """\
In twelve files you will write a transformer in NumPy, from the tokenizer to a
GPT that trains and talks. Each file explains what it is about, and has
functions for you to fill in. Your answers are compared with PyTorch's.

"""
HOW = """\
From now on this window watches the folder. Open a file in your editor beside
it, write, save, and look here: what is right, what is wrong, where, and often
which mistake it is. It waits until you press n to go on. h is a hint.
"""


@click.command()
@NAME_ARGUMENT
@workspace_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@interruptible
def reset(name: str, folder: Path, yes: bool) -> None:
    """Make a function or an assignment a stub again.

    Your version is kept, with the date, in backups/.
    """
    from autograder.engine import session
    from autograder.workspace import files

    curriculum = selected_curriculum(folder)
    session.require_folder(folder, curriculum)
    name = _one(name, curriculum)
    question = f"Make {name} a stub again? Yours is kept in {files.BACKUPS}/."
    if not yes and not click.confirm(question):
        click.echo("Nothing was changed.")
        return
    kept = files.reset(folder, name, curriculum)
    click.echo(f"{name} is a stub again; yours is {kept}. Next: headway check {name}")


def _one(name: str, curriculum: "Curriculum") -> str:
    """One assignment or one function, as its full name."""
    found = curriculum.select([name])
    return found[0] if "." in name else found[0].partition(".")[0]


def _open_solutions(folder: Path, name: str, give_up: bool) -> tuple[str, ...]:
    """See that the solutions of what `name` stands for may be shown; what has not been checked is checked now."""
    from autograder.engine import session
    from autograder.workspace import check, solutions, state

    curriculum = selected_curriculum(folder)
    session.require_folder(folder, curriculum)
    selected = curriculum.select([name])
    statuses = check.statuses(folder, selected, curriculum)
    remembered = state.load(folder)
    passed = {function for function, status in statuses.items() if status == "passed"}
    if solutions.require_open(folder, selected, passed, give_up, remembered):
        remembered.save()
    return selected


def _shows_a_solution(function: Callable[..., None]) -> click.Command:
    """A command that shows the solution of NAME, if that may be shown."""
    give_up = click.option("--give-up", is_flag=True, help="Before yours passes; it is noted.")
    for option in (interruptible, no_color_option, give_up, workspace_option, NAME_ARGUMENT):
        function = option(function)
    return click.command()(function)


@_shows_a_solution
def solution(name: str, folder: Path, give_up: bool, no_color: bool) -> None:
    """The solution, after yours passes (or --give-up)."""
    from autograder.workspace import files

    _open_solutions(folder, name, give_up)
    text = files.solution_of(_one(name, selected_curriculum(folder)), selected_curriculum(folder))
    console = console_for(no_color)
    if console.is_terminal and console.color_system:
        from rich.syntax import Syntax

        console.print(Syntax(text, "python", theme="ansi_dark", background_color="default"))
    else:
        click.echo(text, nl=False)


@_shows_a_solution
def diff(name: str, folder: Path, give_up: bool, no_color: bool) -> None:
    """Yours beside the solution, after yours passes."""
    from autograder.report import diff as differences
    from autograder.workspace import solutions

    for function in _open_solutions(folder, name, give_up):
        mine, theirs = solutions.both_texts(folder, function, selected_curriculum(folder))
        differences.render(function, list(solutions.compare(mine, theirs)), console_for(no_color))


@click.command()
@workspace_option
def update(folder: Path) -> None:
    """Bring the stubs of this version; your work stays."""
    from autograder import __version__
    from autograder.engine import session
    from autograder.workspace import files, state

    session.require_folder(folder, selected_curriculum(folder))
    remembered = state.load(folder)
    lines = files.update(folder, remembered)
    remembered.save()
    for line in lines or [f"Everything is as Headway {__version__} has it. Nothing was changed."]:
        click.echo(line)


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_names)
@workspace_option
@click.option("--out", type=click.Path(path_type=Path), help="The archive (default: NAME.zip in this folder).")
@click.option("--name", "who", help="Your name as your class knows it (default: the folder's).")
@no_color_option
@interruptible
def submit(names: tuple[str, ...], folder: Path, out: Path | None, who: str | None, no_color: bool) -> None:
    """Write one archive to hand in; says what is missing."""
    from autograder.engine import session
    from autograder.report import submission
    from autograder.workspace import check, solutions, state
    from autograder.workspace import submit as handing

    curriculum = selected_curriculum(folder)
    session.require_folder(folder, curriculum)
    who = who or folder.resolve().name
    path = out or Path(f"{handing.safe_name(who)}.zip")
    if path.suffix != ".zip":
        raise UsageError(f"{path} does not end in .zip. Name the archive: --out {path.with_suffix('.zip')}")
    result = check.check(folder, curriculum.select(names), curriculum)
    contents = handing.collect(folder, curriculum)
    gave_up = {k: str(v) for k, v in state.load(folder).section(solutions.GAVE_UP).items()}
    about = handing.manifest(who, contents, result, gave_up)
    handing.write(path, contents, about)
    submission.render(about, result, path, console_for(no_color))
    sys.exit(PASSED)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Make your shell complete commands and names.

    For bash: eval "$(headway completion bash)"
    """
    from click.shell_completion import get_completion_class

    from autograder.cli import main

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "headway", "_HEADWAY_COMPLETE").source())

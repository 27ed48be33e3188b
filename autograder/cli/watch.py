"""The command `headway watch`, and `headway` without a command, which welcomes a new student first.

In a folder that is not a workspace, the latter says where one is, and how to create one.
"""

import contextlib
import itertools
import os
import shutil
import sys
from pathlib import Path

import click

from autograder.cli import options
from autograder.core.text import clean_name

MOST_LISTED = 3  # workspaces
MOST_SEARCHED = 200  # folders
COURSE_INTRODUCTION = """\
File by file, you will write a transformer in NumPy, from the tokenizer to a GPT
that trains and generates text. Each file explains a topic and has functions for
you to write. Your results are compared with PyTorch's.

"""
WATCH_INTRODUCTION = """\
This window now watches the folder. Open a file in your editor next to it,
write a function, save, and look here: you see what is right, what is wrong
and where, and often the cause. Press h for a hint, and n for the next function.
"""


@click.command()
@options.workspace_folder
@click.option("--poll", is_flag=True, help="Look for changes four times a second, for network file systems.")
@click.option("--plain", is_flag=True, help="Print plain lines, without keys, for screen readers and logs.")
def watch(folder: Path, poll: bool, plain: bool) -> None:
    """Check again on every save.

    Only what the save can affect is checked. The screen shows the keys; q quits.
    """
    _watch(folder, poll=poll, plain=plain)


def _watch(folder: Path, *, poll: bool = False, plain: bool = False) -> None:
    from autograder.workspace import watch as interactive
    from autograder.workspace import watch_plain

    options.open_workspace(folder).require_assignments()
    run = watch_plain.run if plain or not interactive.can_be_interactive() else interactive.run
    run(folder.resolve(), poll=poll, console=options.make_console())


def welcome_and_watch(folder: Path) -> None:
    """Watch a workspace; the first time, show an introduction before. Where there is none, print what to do."""
    from autograder.course import registry

    workspace = options.open_workspace(folder)
    if not workspace.has_assignments:
        click.echo(_directions(folder))
        return
    if not workspace.state.content.get("welcomed") and sys.stdin.isatty() and sys.stdout.isatty():
        from autograder.workspace.file_watcher import file_stamps
        from autograder.workspace.terminal import wait_for_key

        before = file_stamps(folder)  # before the prompt, so that a save right after it counts
        click.echo("\nWelcome to Headway.\n")
        introduction = (COURSE_INTRODUCTION if workspace.curriculum == registry.default() else "") + WATCH_INTRODUCTION
        columns = min(80, shutil.get_terminal_size().columns)
        click.echo(click.formatting.wrap_text(introduction, columns, preserve_paragraphs=True) + "\n")
        click.echo("Press any key to begin, or save a file. ", nl=False)
        wait_for_key(or_until=lambda: file_stamps(folder) != before)
        click.echo()
        workspace.state.refresh()
        workspace.state.content["welcomed"] = True
        workspace.state.save()
    _watch(folder)


def _directions(folder: Path) -> str:
    """Return what a student can do in a folder that is not a workspace."""
    from autograder.workspace.create import change_folder

    here = folder.resolve()
    depth = next((steps for steps, parent in enumerate(here.parents, start=1) if _is_workspace(parent)), 0)
    if depth:
        rows = [("cd " + "/".join([".."] * depth), "go to the workspace that this folder is in")]
    else:
        found: list[str] = []
        with contextlib.suppress(OSError):
            found = [path.name for path in itertools.islice(here.iterdir(), MOST_SEARCHED) if _is_workspace(path)]
        names = [clean_name(name, 300) for name in sorted(found)[:MOST_LISTED]]
        rows = [(change_folder(name), "go to this workspace, then type: headway") for name in names]
        another = "another workspace" if found else "a workspace"
        rows.append(("headway init my-gpt", f"create {another}: the files that you fill in"))
    rows.append(("headway --help", "list the commands"))
    width = max(len(command) for command, _ in rows)
    lines = [f"  {command:{width}}  {description}" for command, description in rows]
    return "\n".join([f"{clean_name(here, 300)} is not a workspace.", "", *lines])


def _is_workspace(path: Path) -> bool:
    from autograder.workspace.state import FILE as STATE_FILE

    return os.path.isfile(path / STATE_FILE)  # False where the system denies access.

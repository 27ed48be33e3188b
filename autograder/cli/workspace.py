"""Commands that create and change the files of a workspace: init, reset, update."""

from pathlib import Path

import click

from autograder.cli.completion import CourseName
from autograder.cli.options import (
    curriculum_option,
    interruptible,
    open_workspace,
    workspace_option,
)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@curriculum_option
def init(folder: Path) -> None:
    """Create a workspace: stubs, notebooks, editor settings.

    Existing files are never overwritten.
    """
    from autograder.cli import diagnostics
    from autograder.workspace.create import create

    lines = create(folder, open_workspace(folder).curriculum)
    for diagnostic in diagnostics.check_requirements():
        if not diagnostic.ok:
            click.echo(f"! {diagnostic.name}: {diagnostic.text}. {diagnostic.fix}", err=True)
    for line in lines:
        click.echo(line)


@click.command()
@click.argument("name", metavar="NAME", type=CourseName())
@workspace_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@interruptible
def reset(name: str, folder: Path, yes: bool) -> None:
    """Restore the stub of a function or assignment (keeps a backup).

    The backup is put into backups/, with the date in its name.
    """
    from autograder.workspace import files

    workspace = open_workspace(folder)
    workspace.require_assignments()
    name = workspace.resolve_name(name)
    if not yes and not click.confirm(f"Reset {name} to its stub? A backup goes to {files.BACKUPS}/."):
        click.echo("Nothing was changed.")
        return
    backup = files.reset(folder, name, workspace.curriculum)
    kept = f" Your version is in {backup}." if backup else ""
    click.echo(f"{name} was reset.{kept} Next: headway check {name}")


@click.command()
@workspace_option
def update(folder: Path) -> None:
    """Update the stubs to this version; your work is kept."""
    from autograder import __version__
    from autograder.workspace import files

    workspace = open_workspace(folder)
    workspace.require_assignments()
    lines = files.update(folder, workspace.state)
    workspace.state.save()
    for line in lines or [f"Already up to date ({__version__})."]:
        click.echo(line)

"""The command `headway submit`."""

import sys
from pathlib import Path

import click

from autograder.cli.completion import CourseName
from autograder.cli.options import (
    PASSED,
    console_for,
    interruptible,
    no_color_option,
    open_workspace,
    workspace_option,
)
from autograder.errors import UsageError


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, type=CourseName())
@workspace_option
@click.option("--out", type=click.Path(path_type=Path), help="The archive (default: NAME.zip in the current folder).")
@click.option("--name", "student", help="Your name as your class knows it (default: the name of the workspace).")
@no_color_option
@interruptible
def submit(names: tuple[str, ...], folder: Path, out: Path | None, student: str | None, no_color: bool) -> None:
    """Pack your work into one archive to submit.

    It is checked first: everything, or the named assignments or functions. You see what does not pass yet.
    """
    from autograder.report import submission
    from autograder.workspace.check import check_workspace
    from autograder.workspace.submit import collect_files, make_manifest, safe_file_name, write_archive

    workspace = open_workspace(folder)
    workspace.require_assignments()
    student = student or folder.resolve().name
    path = out or Path(f"{safe_file_name(student)}.zip")
    if path.suffix != ".zip":
        raise UsageError(f"{path} does not end in .zip. Name the archive: --out {path.with_suffix('.zip')}")
    result, _ = check_workspace(workspace, workspace.curriculum.select(names))
    contents = collect_files(workspace.snapshot)
    manifest = make_manifest(student, contents, result, workspace.state)
    write_archive(path, contents, manifest)
    submission.render(manifest, result, path, console_for(no_color))
    sys.exit(PASSED)

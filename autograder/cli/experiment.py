"""The command `headway experiment`."""

import subprocess
import sys
from pathlib import Path

import click

from autograder.cli import options
from autograder.cli.completion import CourseName
from autograder.errors import UsageError


@click.command()
@click.argument("name", metavar="ASSIGNMENT", type=CourseName())
@click.argument("experiment", metavar="[EXPERIMENT]", default="")
@options.workspace_folder
def experiment(name: str, experiment: str, folder: Path) -> None:
    """Run the experiment of a lesson, with your files and notebooks.

    "python softmax.py" does the same where no assignment counts from a notebook.
    """
    from autograder.workspace import experiments

    workspace = options.open_workspace(folder)
    workspace.require_assignments()
    module = workspace.resolve_name(name).partition(".")[0]
    known = experiments.names(module, workspace.curriculum)
    if experiment not in known:
        others = ", ".join(filter(None, known)) or "none with a name"
        raise UsageError(f"{module} has no experiment {experiment!r}. It has: {others}")
    program = experiments.program(workspace, module, experiment)
    sys.exit(subprocess.run([sys.executable, *program], cwd=workspace.folder, check=False).returncode)

"""Restore stubs in the version of an assignment that counts: in its file or in its notebook."""

from pathlib import Path

from autograder.workspace import files, notebook_files
from autograder.workspace.workspace import Workspace


def reset(workspace: Workspace, name: str) -> Path | None:
    """Restore the stub of a function or a whole assignment; return the backup, or None if there was no file."""
    module = name.partition(".")[0]
    if (notebook := workspace.file_of(module)).endswith(notebook_files.SUFFIX):
        return notebook_files.reset(workspace.folder, name, notebook)
    return files.reset(workspace.folder, name, workspace.curriculum)


def after_reset(workspace: Workspace, name: str) -> str:
    """Return what to do if the notebook is open in an editor, which does not notice the change; else nothing."""
    in_notebook = workspace.file_of(name.partition(".")[0]).endswith(notebook_files.SUFFIX)
    return " If the notebook is open, load it again: File > Reload Notebook from Disk." if in_notebook else ""

"""The message of `headway` in a folder that is not a workspace: where one is, and how to create one."""

import contextlib
import itertools
from pathlib import Path

from autograder.core.text import clean_name
from autograder.workspace.editor_settings import change_folder
from autograder.workspace.state import FILE as STATE_FILE

MOST = 3  # workspaces that are listed
SEARCHED = 200  # folders that are looked into


def directions(folder: Path) -> str:
    """Return what a student can do in a folder that is not a workspace."""
    here = folder.resolve()
    if depth := _depth_in_workspace(here):
        rows = [("cd " + "/".join([".."] * depth), "go to the workspace that this folder is in")]
    else:
        found = _workspaces_in(here)
        rows = [(change_folder(clean_name(name, 300)), "go to this workspace, then type: headway") for name in found]
        another = "another workspace" if found else "a workspace"
        rows.append(("headway init my-gpt", f"create {another}: the files that you fill in"))
    rows.append(("headway --help", "list the commands"))
    width = max(len(command) for command, _ in rows)
    lines = [f"  {command:{width}}  {description}" for command, description in rows]
    return "\n".join([f"{clean_name(here, 300)} is not a workspace.", "", *lines])


def _depth_in_workspace(folder: Path) -> int:
    """Return how many levels above this folder its workspace is; 0 if it is in none."""
    return next((steps for steps, parent in enumerate(folder.parents, start=1) if _is_workspace(parent)), 0)


def _workspaces_in(folder: Path) -> list[str]:
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = [path.name for path in itertools.islice(folder.iterdir(), SEARCHED) if _is_workspace(path)]
    return sorted(names)[:MOST]


def _is_workspace(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return (path / STATE_FILE).is_file()
    return False

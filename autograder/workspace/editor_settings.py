"""Make it easy to reopen a workspace: settings of VS Code, and the commands that a new terminal needs."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

TASKS = {
    "version": "2.0.0",
    "tasks": [
        {"label": "Headway: watch", "type": "shell", "command": "headway watch", "isBackground": True,
         "problemMatcher": [], "presentation": {"panel": "dedicated", "reveal": "always"}},
        {"label": "Headway: check this file", "type": "shell", "command": "headway",
         # Without quotes, the shell would run commands in the name of a file.
         "args": ["check", "--", {"value": "${fileBasenameNoExtension}", "quoting": "strong"}],
         "problemMatcher": [], "group": {"kind": "test", "isDefault": True}},
    ],
}  # fmt: skip
EXTENSIONS = {"recommendations": ["ms-python.python", "charliermarsh.ruff"]}


def settings_files(folder: Path) -> dict[str, bytes]:
    """Return the files of `.vscode/` by path relative to the workspace `folder`."""
    settings = {"python.defaultInterpreterPath": interpreter_path(folder), "python.terminal.activateEnvironment": True}
    files = {"tasks": TASKS, "extensions": EXTENSIONS, "settings": settings}
    return {f".vscode/{name}.json": (json.dumps(content, indent=2) + "\n").encode() for name, content in files.items()}


def interpreter_path(folder: Path, executable: str = sys.executable) -> str:
    """Return the path of the Python that runs Headway, as VS Code reads it.

    A path inside the workspace, or beside it, is relative, so that both can be moved together.
    """
    root = Path(os.path.abspath(folder))
    interpreter = Path(os.path.abspath(executable))  # Not resolved: that would leave the virtual environment.
    if interpreter.is_relative_to(root):
        return f"${{workspaceFolder}}/{interpreter.relative_to(root).as_posix()}"
    is_top = root.parent == Path(root.anchor)
    if interpreter.is_relative_to(root.parent) and not is_top and root.parent != Path.home():
        return f"${{workspaceFolder}}/../{interpreter.relative_to(root.parent).as_posix()}"
    return str(interpreter)


def return_commands(folder: Path) -> list[str]:
    """Return the commands to continue in a new terminal: activate the environment, go to the workspace, watch."""
    return [*filter(None, [_activation()]), change_folder(os.path.abspath(folder)), "headway"]


def change_folder(path: str) -> str:
    """Return the command that goes to a folder."""
    if os.name == "nt":
        return f'cd "{path}"' if " " in path else f"cd {path}"
    return f"cd {shlex.quote(path)}"


def _activation() -> str:
    """Return the command that puts `headway` on the path; empty if it is there in every terminal."""
    if name := os.environ.get("CONDA_DEFAULT_ENV"):
        return f"conda activate {shlex.quote(name)}"
    if sys.prefix == sys.base_prefix or _is_tool():
        return ""
    if os.name == "nt":
        return str(Path(sys.prefix, "Scripts", "activate"))
    return f". {shlex.quote(os.path.join(sys.prefix, 'bin', 'activate'))}"


def _is_tool() -> bool:
    """Return whether pipx or `uv tool` installed Headway; both put a link to the command on the path."""
    link = shutil.which("headway")
    if link is not None and Path(link).is_symlink() and Path(link).resolve().is_relative_to(Path(sys.prefix).resolve()):
        return not Path(link).is_relative_to(sys.prefix)
    parts = Path(sys.prefix).parts
    return "pipx" in parts or parts[-3:-1] == ("uv", "tools")

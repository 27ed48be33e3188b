"""Locate functions in the student's files, and open them in the student's editor."""

import ast
import difflib
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

from autograder.errors import UsageError
from autograder.workspace import files, notebook_files
from autograder.workspace.function_source import find_function, functions_in
from autograder.workspace.terminal import InteractiveTerminal
from autograder.workspace.workspace import Workspace

# Editors with a window of their own, which do not need the terminal, and how each takes a line number.
GRAPHICAL = {"code": "--goto {file}:{line}", "codium": "--goto {file}:{line}", "cursor": "--goto {file}:{line}",
             "subl": "{file}:{line}", "zed": "{file}:{line}", "gedit": "+{line} {file}", "kate": "--line {line} {file}",
             "pycharm": "--line {line} {file}", "charm": "--line {line} {file}"}  # fmt: skip


def functions_of(workspace: Workspace, module: str) -> dict[str, ast.FunctionDef]:
    """Return the functions that an assignment defines, by name; none if Python cannot read it."""
    source = workspace.snapshot.modules.get(module)
    return (functions_in(source.content) if source else None) or {}


def locate_stub(workspace: Workspace, qualified: str) -> tuple[str, int, str]:
    """Return the file and the line of a function; if it is missing, line 0 and what to do."""
    module, _, name = qualified.partition(".")
    file, functions = workspace.file_of(module), functions_of(workspace, module)
    in_notebook = module in workspace.notebook_modules
    if name in functions:
        return file, 1 if in_notebook else functions[name].lineno, ""
    if in_notebook:
        return file, 0, f"{file} has no function {name}. To restore its cell: headway reset {module}"
    if not (workspace.folder / file).is_file():
        return file, 0, f"No such file: {file}. To restore its stub, run in another window: headway update"
    return file, 0, _missing_function_text(workspace, qualified, functions)


def documentation(workspace: Workspace, qualified: str) -> str:
    """Return the first line and the docstring of a function as the stub has them; empty if there is no stub."""
    module, _, name = qualified.partition(".")
    stub = find_function(files.stub_text(module, workspace.curriculum), name)
    doc = ast.get_docstring(stub) if stub else None
    if stub is None or not doc:
        return ""
    return f"def {name}({ast.unparse(stub.args)}):\n" + "\n".join(f"    {line}".rstrip() for line in doc.split("\n"))


def _missing_function_text(workspace: Workspace, qualified: str, functions: dict[str, ast.FunctionDef]) -> str:
    """Explain that a file does not define a function, which may have been renamed."""
    module, _, name = qualified.partition(".")
    expected = {function.name for function in workspace.curriculum.modules[module].functions}
    lines = [f"{module}.py has no function {name}. Functions must keep the names they have in the stub."]
    for close in difflib.get_close_matches(name, functions.keys() - expected, n=1):
        lines.append(f"Did you rename it to {close} (line {functions[close].lineno})? Change the name back to {name}.")
    return "\n".join([*lines, "To restore the stub, run in another window: headway update"])


def link(folder: Path, file: str, line: int) -> str:
    """Return the URL of a line of a file or a notebook's cell in a workspace, for a terminal link (OSC 8)."""
    if ".ipynb cell " in file:
        module = file.partition(" cell ")[0].removesuffix(notebook_files.SUFFIX)
        return (notebook_files.find(folder, module) or folder).absolute().as_uri()
    path = (folder / file).absolute()
    in_vscode = os.environ.get("TERM_PROGRAM") == "vscode"
    # A name may contain the bytes that end a link, and commands for the terminal after them.
    quoted = quote(os.fsencode(path.as_posix()), safe="/:")
    return f"vscode://file{quoted}:{line}" if in_vscode else path.as_uri()


def open_in_editor(file: Path, line: int, terminal: InteractiveTerminal) -> str:
    """Open a file in the editor named by VISUAL or EDITOR; a terminal editor gets the terminal until it ends.

    Return a line that says what was done; empty for a terminal editor. Raises UsageError if no editor is set or starts.
    """
    default = "code" if os.environ.get("TERM_PROGRAM") == "vscode" else ""
    try:
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or default)
    except ValueError:
        command = []
    if not command:
        raise UsageError(f"no editor is set (export EDITOR=...). Open {file.name} at line {line} yourself")
    remedy = "Check the environment variables VISUAL and EDITOR"
    if shutil.which(command[0]) is None:
        raise UsageError(f"no such program: {command[0]}. {remedy}")
    name = Path(command[0]).stem
    command += [part.format(line=line, file=file) for part in GRAPHICAL.get(name, "+{line} {file}").split()]
    # The warm pytest session has set variables that an editor must not inherit.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    try:
        if name in GRAPHICAL:
            null = subprocess.DEVNULL
            subprocess.Popen(command, stdin=null, stdout=null, stderr=null, env=environment)
        else:
            with terminal.suspended():
                subprocess.run(command, check=False, env=environment)
    except OSError as error:
        raise UsageError(f"cannot start {command[0]} ({error.strerror}). {remedy}") from None
    return f"opened {file.name} in {name}" if name in GRAPHICAL else ""

"""Where something is in the student's files, and opening it in the student's editor."""

import ast
import difflib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from autograder.errors import UsageError
from autograder.workspace import state
from autograder.workspace.terminal import Keyboard

SHOWN_LINES = 40  # of a stub's beginning
# Editors with a window of their own: they do not need the terminal. Value: how they take a line.
WINDOWED = {"code": "--goto {file}:{line}", "codium": "--goto {file}:{line}", "cursor": "--goto {file}:{line}",
            "subl": "{file}:{line}", "zed": "{file}:{line}", "gedit": "+{line} {file}", "kate": "--line {line} {file}",
            "pycharm": "--line {line} {file}", "charm": "--line {line} {file}"}  # fmt: skip


def line_of(file: Path, function: str) -> int:
    """The line on which a function begins; 1 if it cannot be found."""
    node = find(file, function)
    return node.lineno if node else 1


def find(file: Path, function: str) -> ast.FunctionDef | None:
    """The function's syntax tree; None if the file cannot be read or has no such function."""
    found = [node for node in functions_in(file) if node.name == function]
    return found[-1] if found else None


def functions_in(file: Path) -> list[ast.FunctionDef]:
    """The functions that a file defines; none if Python cannot read it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def beginning(folder: Path, qualified: str) -> tuple[str, int, str]:
    """File, line and the signature with docstring of a function, to show what is to be written.

    Of a function that is not there the line is 0, and the text says so.
    """
    module, _, name = qualified.partition(".")
    node = find(folder / f"{module}.py", name)
    if not (folder / f"{module}.py").is_file():
        return f"{module}.py", 0, f"There is no file {module}.py. headway update, in another window, brings it back."
    if node is None:
        return f"{module}.py", 0, _missing(folder, module, name)
    doc = ast.get_docstring(node) or ""
    text = f"def {name}({ast.unparse(node.args)}):\n" + "\n".join(f"    {line}".rstrip() for line in doc.split("\n"))
    return f"{module}.py", node.lineno, "\n".join(text.split("\n")[:SHOWN_LINES])


def _missing(folder: Path, module: str, name: str) -> str:
    """What to do about a function that a file does not define: it may be there under another name."""
    others = {function.name for function in state.load(folder).curriculum.modules[module].functions}
    own = {node.name: node.lineno for node in functions_in(folder / f"{module}.py") if node.name not in others}
    lines = [f"{module}.py has no function {name}. It is found by its name, which must stay as it was in the stub."]
    for close in difflib.get_close_matches(name, own, n=1):
        lines.append(f"Is it {close}, in line {own[close]}? Then call it {name} again.")
    return "\n".join([*lines, "headway update, in another window, puts the stub back."])


def linker(folder: Path) -> Callable[[str, int], str]:
    """Makes addresses that a terminal can follow (OSC 8); in an editor's own terminal they lead to the line."""

    def link(file: str, line: int) -> str:
        path = (folder / file).absolute()
        if os.environ.get("TERM_PROGRAM") == "vscode":
            return f"vscode://file{path.as_posix()}:{line}"
        return path.as_uri()

    return link


def open_at(file: Path, line: int, keys: Keyboard) -> str:
    """Open a file in the editor that VISUAL or EDITOR names; an editor in the terminal gets the terminal until it ends.

    Returns:
        One line that says what was done.

    Raises:
        UsageError: if no editor is known, or it cannot be started.
    """
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not named and os.environ.get("TERM_PROGRAM") == "vscode":
        named = "code"
    try:
        command = shlex.split(named or "")
    except ValueError:
        command = []
    if not command:
        raise UsageError(f"open {file.name} at line {line} in your editor (for this key to do it: export EDITOR=…)")
    if shutil.which(command[0]) is None:
        raise UsageError(f"there is no program {command[0]}: see the environment's VISUAL and EDITOR")
    name = Path(command[0]).stem
    place = WINDOWED.get(name, "+{line} {file}")
    arguments = [part.format(line=line, file=file) for part in place.split()]
    try:
        if name in WINDOWED:
            quiet = subprocess.DEVNULL
            subprocess.Popen([*command, *arguments], stdin=quiet, stdout=quiet, stderr=quiet, env=_environment())
        else:
            with keys.lent():
                subprocess.run([*command, *arguments], check=False, env=_environment())
    except OSError as error:
        raise UsageError(f"{command[0]} does not start ({error.strerror})") from None
    return f"{file.name} is open in {name}" if name in WINDOWED else ""


def _environment() -> dict[str, str]:
    """The environment without what the warm pytest session has put into it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}

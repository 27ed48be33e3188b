"""The student's files and the kit's: start one again, bring new stubs, look at the solution. Work is never lost.

Before any file is changed, a dated copy goes into `backups/` of the workspace.
"""

import ast
import datetime
import hashlib
from collections.abc import Sequence
from pathlib import Path

from autograder.core.files import write_atomically
from autograder.curriculum import Assignment, Curriculum, registry
from autograder.curriculum.stubs import bundled, make_stub
from autograder.errors import UsageError
from autograder.workspace import dependencies
from autograder.workspace.state import State

BACKUPS = "backups"
STUBS = "stubs"  # in the workspace's state: SHA-256 of each file as the kit wrote it


def read(path: Path) -> str:
    """The text of a student's file.

    Raises:
        UsageError: if it is not there or is no text.
    """
    try:
        return path.read_text("utf-8-sig")  # some editors put a byte order mark before it; to Python it is nothing
    except FileNotFoundError:
        raise UsageError(f"there is no file {path.name}. Bring its stub back: headway update") from None
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(
            f"cannot read {path.name} ({reason}). Mend the file, or move it away: headway update"
        ) from None


def stub_text(module: str, curriculum: Curriculum) -> str:
    """The stub of an assignment as this version of the course has it."""
    if curriculum.package == registry.BUILT_IN:
        return (bundled("assignments") / f"{module}.py").read_text("utf-8")
    return make_stub(solution_text(module, curriculum), module, curriculum)


def solution_text(module: str, curriculum: Curriculum) -> str:
    """The solution of an assignment."""
    return (registry.solutions(curriculum.package) / f"{module}.py").read_text("utf-8")


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def back_up(path: Path) -> Path:
    """Copy a file into `backups/`, with the date and time in its name.

    Returns:
        The copy, relative to the workspace.
    """
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    folder = path.parent / BACKUPS
    for number in range(1000):
        copy = folder / f"{path.stem}-{stamp}{f'-{number}' if number else ''}.py"
        if not copy.exists():
            break
    try:
        write_atomically(copy, path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"cannot keep a copy in {BACKUPS}/ ({error.strerror}), so nothing was changed. Look at its permissions"
        ) from None
    return copy.relative_to(path.parent)


def write(path: Path, text: str) -> None:
    """Write a student's file, whole or not at all."""
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise UsageError(f"cannot write {path.name} ({error.strerror}). Look at its permissions") from None


def reset(folder: Path, name: str, curriculum: Curriculum) -> str:
    """Make a function, or a whole assignment, what it was in the beginning.

    Returns:
        Where the copy of the student's version is; "nothing" if there was no file.
    """
    module, _, function = name.partition(".")
    path = folder / f"{module}.py"
    if not function:
        kept = str(back_up(path)) if path.exists() else "nothing"
        write(path, stub_text(module, curriculum))
        return kept
    text = read(path)
    changed = replace_function(text, function, function_text(stub_text(module, curriculum), function))
    if changed is None:
        raise UsageError(
            f"Python cannot read {module}.py, so one function of it cannot be replaced. "
            f"The whole file: headway reset {module}"
        )
    kept = str(back_up(path))
    write(path, changed)
    return kept


def _node(text: str, function: str) -> ast.FunctionDef | None:
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function]
    return found[-1] if found else None


def _span(node: ast.FunctionDef) -> tuple[int, int]:
    """First line (0-based) and one past the last, decorators included."""
    start = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    assert node.end_lineno is not None
    return start, node.end_lineno


def function_text(text: str, function: str) -> str:
    """The source of one function; empty if there is none of that name."""
    node = _node(text, function)
    if node is None:
        return ""
    start, end = _span(node)
    return "\n".join(text.split("\n")[start:end])


def replace_function(text: str, function: str, new: str) -> str | None:
    """The text with another version of one function, at the end if it had none; None if it is not Python."""
    try:
        node = _node(text, function)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if node is None:
        return text.rstrip("\n") + f"\n\n\n{new}\n"
    start, end = _span(node)
    lines = text.split("\n")
    return "\n".join([*lines[:start], *new.split("\n"), *lines[end:]])


def helpers(text: str, functions: Sequence[str]) -> list[str]:
    """Private names of a module (`_name`) that functions use, directly or not, in the order of the file."""
    module = dependencies.Module("m", text.encode())
    waiting, found = list(functions), set()
    while waiting:
        for _, used in module.uses.get(waiting.pop(), ()):
            if used.startswith("_") and used in module.texts and used not in found:
                found.add(used)
                waiting.append(used)
    return [name for name in module.texts if name in found]


def solution_of(name: str, curriculum: Curriculum) -> str:
    """The solution of a function, with the private helpers that it uses, or of a whole assignment."""
    module, _, function = name.partition(".")
    text = solution_text(module, curriculum)
    if not function:
        return text
    lines = text.split("\n")
    wanted = {*helpers(text, [function]), function}
    parts = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            if node.name in wanted:
                parts.append("\n".join(lines[slice(*_span(node))]))
        elif isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in wanted for t in node.targets):
            parts.append("\n".join(lines[node.lineno - 1 : node.end_lineno]))
    return "\n\n\n".join(parts) + "\n"


def update(folder: Path, state: State) -> list[str]:
    """Bring the stubs of this version of the kit, and leave work alone; the state takes note, to be saved.

    A file that nobody has written in is replaced as a whole. In a file with work, functions that are stubs still get
    their new text, and functions that are new come at its end; all else in it stays as it is.

    Returns:
        What was done, one line for each file that was changed.
    """
    section, curriculum = state.section(STUBS), state.curriculum
    lines = []
    for module, assignment in curriculum.modules.items():
        path, new = folder / f"{module}.py", stub_text(module, curriculum)
        if not path.exists():
            write(path, new)
            lines.append(f"{path.name}: written, it was not there")
        else:
            old = read(path)
            if old == new:
                section[path.name] = digest(new)
                continue
            if section.get(path.name) == digest(old):
                back_up(path)
                write(path, new)
                lines.append(f"{path.name}: the new stub; nothing was written in it yet")
            else:
                lines += _update_functions(path, assignment, old, new)
                continue
        section[path.name] = digest(new)
    return lines


def _update_functions(path: Path, assignment: Assignment, old: str, new: str) -> list[str]:
    mine = dependencies.Module(assignment.module, old.encode())
    if mine.error is not None:
        return [f"{path.name}: left as it is, because Python cannot read it"]
    changed, text = [], old
    for function in assignment.functions:
        stub = function_text(new, function.name)
        untouched = function.name in mine.stubs or function.name not in mine.texts
        if untouched and function_text(text, function.name) != stub:
            replaced = replace_function(text, function.name, stub)
            assert replaced is not None
            text = replaced
            changed.append(function.name)
    if not changed:
        return []
    kept = back_up(path)
    write(path, text)
    return [f"{path.name}: new stubs of {', '.join(changed)}; your work is as it was (a copy: {kept})"]

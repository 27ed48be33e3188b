"""Read, back up, reset and update the student's files; every change is preceded by a dated copy in `backups/`."""

import codecs
import datetime
import hashlib
from collections.abc import Iterable
from pathlib import Path

from autograder.core.files import read_plain_file, replace_file, report_write_error
from autograder.core.text import counted
from autograder.course import Assignment, Curriculum, registry
from autograder.course.stubs import bundled, make_stub
from autograder.errors import UsageError
from autograder.workspace.dependencies import ModuleSource
from autograder.workspace.function_source import function_text, replace_function
from autograder.workspace.state import State

DEBUG_MARK = "# Written by headway debug"  # a program that is not part of a submission

BACKUPS = "backups"
STUBS = "stubs"  # key of the state file: the SHA-256 of each file as Headway wrote it


def read_file(path: Path) -> str:
    """Return the text of a student's file, with plain newlines and without the byte order mark of some editors."""
    return decode(path, read_bytes(path).removeprefix(codecs.BOM_UTF8)).replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: Path) -> bytes:
    """Return the content of a student's file; raise UsageError if it is missing, unreadable or not a plain file."""
    try:
        return read_plain_file(path)
    except FileNotFoundError:
        raise UsageError(f"no such file: {path.name}. Restore its stub: headway update") from None
    except OSError as error:
        raise _unreadable(path, error.strerror) from None


def decode(path: Path, content: bytes) -> str:
    """Return the content of a student's file as text; raise UsageError if it is not UTF-8."""
    try:
        return content.decode()
    except UnicodeError:
        raise _unreadable(path, "it is not UTF-8 text") from None


def _unreadable(path: Path, reason: str | None) -> UsageError:
    remedy = "Fix the file, or move it away and run: headway update"
    return UsageError(f"cannot read {path.name} ({reason}). {remedy}")


def refuse_links(folder: Path, names: Iterable[str]) -> None:
    """Raise UsageError if one of the files is a link, which pages do not follow: it may lead out of the workspace."""
    for name in names:
        if (folder / name).is_symlink():
            raise UsageError(f"{name} is a link, which a page does not follow. Replace it with a copy of the file")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a student's file atomically, as it is; its folder must exist."""
    with report_write_error(path.name, "Check its permissions"):
        replace_file(path, content)


def make_folder(path: Path) -> None:
    """Create a folder of a workspace, unless it exists."""
    with report_write_error(path.name, "Check its permissions"):
        path.mkdir(exist_ok=True)


def stub_text(module: str, curriculum: Curriculum) -> str:
    """Return the stub of an assignment in the installed version of the course."""
    if curriculum.is_built_in:
        return (bundled("assignments") / f"{module}.py").read_text("utf-8")
    return make_stub(registry.solution_text(module, curriculum.package), module, curriculum)


def given_texts(curriculum: Curriculum) -> dict[str, str]:
    """Return the official solutions of the given assignments by file name."""
    return {f"{name}.py": registry.solution_text(name, curriculum.package) for name in curriculum.given_modules}


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def back_up(path: Path, folder: Path | None = None) -> Path:
    """Copy a file into `backups/`, with the date and time in its name; return its path in the workspace.

    `folder` is the workspace, by default the folder of the file.
    """
    folder = folder or path.parent
    timestamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    for number in range(1000):
        copy = folder / BACKUPS / f"{path.stem}-{timestamp}{f'-{number}' if number else ''}{path.suffix}"
        if not copy.exists():
            break
    try:
        copy.parent.mkdir(exist_ok=True)
        replace_file(copy, read_plain_file(path))
    except OSError as error:
        raise UsageError(
            f"cannot write a backup to {BACKUPS}/ ({error.strerror}), so nothing was changed. Check its permissions"
        ) from None
    return copy.relative_to(folder)


def reset(folder: Path, name: str, curriculum: Curriculum) -> Path | None:
    """Restore the stub of a function or a whole assignment; return the backup, or None if there was no file."""
    module, _, function = name.partition(".")
    path = folder / f"{module}.py"
    stub = stub_text(module, curriculum)
    new = replace_function(read_file(path), function, function_text(stub, function)) if function else stub
    if new is None:
        raise UsageError(
            f"Python cannot read {module}.py, so a single function in it cannot be reset. "
            f"Reset the whole file: headway reset {module}"
        )
    backup = back_up(path) if path.exists() else None
    write_bytes(path, new.encode())
    return backup


def update(folder: Path, state: State) -> list[str]:
    """Update the stubs to the installed version and keep the student's work; the caller saves the state.

    A file without work is replaced as a whole. In a file with work, functions that are still stubs get their new text
    and new functions are appended; the rest is kept. Pictures are replaced. Returns lines that say what was changed.
    """
    digests, curriculum = state.section(STUBS), state.curriculum
    lines = _update_figures(folder, curriculum) + _update_given(folder, curriculum)
    for module, assignment in curriculum.modules.items():
        path, new = folder / f"{module}.py", stub_text(module, curriculum)
        if not path.exists():
            write_bytes(path, new.encode())
            lines.append(f"{path.name}: restored (it was missing)")
        elif (old := read_file(path)) != new:
            if digests.get(path.name) != text_digest(old):
                lines += _update_functions(path, assignment, old, new)
                continue
            back_up(path)
            write_bytes(path, new.encode())
            lines.append(f"{path.name}: replaced by the new stub (you had not changed it)")
        digests[path.name] = text_digest(new)
    return lines


def _update_figures(folder: Path, curriculum: Curriculum) -> list[str]:
    figures = {folder / name: text for name, text in registry.figure_texts(curriculum).items()}
    changed = {path: text for path, text in figures.items() if not path.is_file() or path.read_bytes() != text.encode()}
    for path, text in changed.items():
        make_folder(path.parent)
        write_bytes(path, text.encode())
    return [f"figures: {counted(len(changed), 'picture')} updated"] if changed else []


def _update_given(folder: Path, curriculum: Curriculum) -> list[str]:
    """Restore the official solutions of given assignments."""
    lines = []
    for name, solution in given_texts(curriculum).items():
        path = folder / name
        if path.is_file() and path.read_bytes() == solution.encode():
            continue
        backup = f" (backup: {back_up(path)})" if path.is_file() else ""
        write_bytes(path, solution.encode())
        lines.append(f"{name}: now the official solution of this version{backup}")
    return lines


def _update_functions(path: Path, assignment: Assignment, old: str, new: str) -> list[str]:
    student = ModuleSource(assignment.module, old.encode()).parsed
    if student.error is not None:
        return [f"{path.name}: not changed, because Python cannot read it"]
    updated, text = [], old
    for function in assignment.functions:
        stub = function_text(new, function.name)
        untouched = function.name in student.stubs or function.name not in student.definitions
        if untouched and function_text(text, function.name) != stub:
            text = replace_function(text, function.name, stub) or text
            updated.append(function.name)
    if not updated:
        return []
    backup = back_up(path)
    write_bytes(path, text.encode())
    return [f"{path.name}: new stubs for {', '.join(updated)}; your work is kept (backup: {backup})"]

"""The notebooks of a workspace: `notebooks/softmax.ipynb`, or `softmax.ipynb` beside `softmax.py`.

They are read and never run. Of an assignment's notebook, its functions count and what they use (`parsing/extract.py`):
running cells, experiments and text change nothing. JupyterLab's checkpoints are in a folder of their own, which is
ignored.
"""

import contextlib
import filecmp
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.core.files import read_plain_file
from autograder.course import Curriculum
from autograder.course.stubs import bundled
from autograder.errors import UsageError
from autograder.parsing import Unreadable
from autograder.parsing.read_ipynb import MAX_NOTEBOOK_BYTES, read_modules, submitted_cells
from autograder.workspace import files
from autograder.workspace.dependencies import ModuleSource
from autograder.workspace.function_source import find_function, function_text, replace_function
from autograder.workspace.state import State

FOLDER = "notebooks"
SUFFIX = ".ipynb"
# A file that is being saved may be half written. It is read again after RETRY_SECONDS, at most MAX_RETRIES times.
RETRY_SECONDS, MAX_RETRIES = 0.02, 3
_Stamp = tuple[int, int, int]  # modification time (ns), size and inode


@dataclass(frozen=True, eq=False)
class NotebookFile:
    """A notebook of a workspace, as it was when it was read."""

    name: str  # its path in the workspace
    content: bytes
    saved: float  # when it was changed last, in seconds since the epoch
    module: ModuleSource | None = None  # its assignment's module; None if it defines no function of the assignment
    problem: str = ""  # why it cannot be read


def paths(folder: Path, curriculum: Curriculum, *, follow_links: bool = True) -> Iterator[tuple[str, Path]]:
    """Yield each assignment of which the workspace has a notebook, with the notebook's path."""
    for module in curriculum.modules:
        path = find(folder, module)
        if path is not None and (follow_links or not (path.is_symlink() or path.parent.is_symlink())):
            yield module, path


def version_names(curriculum: Curriculum) -> Iterator[str]:
    """Yield the name of every file or folder of a workspace in which an assignment may be written."""
    yield FOLDER
    for module in curriculum.modules:
        yield from (f"{module}.py", f"{module}{SUFFIX}", f"{FOLDER}/{module}{SUFFIX}")


def find(folder: Path, module: str) -> Path | None:
    """Return the path of an assignment's notebook, if there is one; the one in `notebooks/` comes first."""
    candidates = (folder / FOLDER / f"{module}{SUFFIX}", folder / f"{module}{SUFFIX}")
    return next((path for path in candidates if path.is_file()), None)


def unread(folder: Path, module: str) -> str:
    """Return the name of a notebook that is not read, because another one of its assignment comes first; else ""."""
    first, second = folder / FOLDER / f"{module}{SUFFIX}", folder / f"{module}{SUFFIX}"
    with contextlib.suppress(OSError):
        return "" if filecmp.cmp(first, second) else second.name
    return ""  # One of them does not exist.


class NotebookReader:
    """Reads the notebooks of a workspace; those that have not changed since are not read again."""

    def __init__(self, folder: Path, curriculum: Curriculum, *, follow_links: bool = True) -> None:
        self._folder, self._curriculum, self._follow_links = folder, curriculum, follow_links
        self._known: dict[str, tuple[_Stamp, NotebookFile]] = {}

    def read(self) -> dict[str, NotebookFile]:
        """Return the notebook of each assignment that has one, by assignment."""
        found = {}
        for module, path in paths(self._folder, self._curriculum, follow_links=self._follow_links):
            with contextlib.suppress(OSError):  # It has been deleted in the meantime.
                found[module] = self._read(module, path)
        return found

    def _read(self, module: str, path: Path) -> NotebookFile:
        for attempt in range(1 + MAX_RETRIES):
            status = os.stat(path)
            stamp = status.st_mtime_ns, status.st_size, status.st_ino
            if module in self._known and self._known[module][0] == stamp:
                return self._known[module][1]
            notebook = self._parse(module, path, stamp)
            if not notebook.problem or attempt == MAX_RETRIES:
                break
            time.sleep(RETRY_SECONDS)
        self._known[module] = (stamp, notebook)
        return notebook

    def _parse(self, module: str, path: Path, stamp: _Stamp) -> NotebookFile:
        content, text, problem = b"", None, ""
        if stamp[1] > MAX_NOTEBOOK_BYTES:
            problem = f"it is larger than {MAX_NOTEBOOK_BYTES >> 20} MiB. Clear its outputs"
        elif (content := read_plain_file(path)) != released(module):
            try:
                text = read_modules(content, self._curriculum.function_names, path.name).get(f"{module}.py")
            except Unreadable as error:
                problem = f"{error}. Shorten it, or save it again in your notebook editor"
        source = None if text is None else ModuleSource(module, text)
        return NotebookFile(path.relative_to(self._folder).as_posix(), content, stamp[0] / 1e9, source, problem)


def released(module: str) -> bytes | None:
    """Return an assignment's notebook as Headway ships it, for the built-in course; None if there is none."""
    path = bundled("assignments") / FOLDER / f"{module}{SUFFIX}"
    return path.read_bytes() if path.is_file() else None


def reset_function(content: bytes, module: str, function: str) -> bytes:
    """Return a notebook with the stub of one function in place of the cell's own definition; the rest is kept."""
    stub_cells = ["".join(cell["source"]) for cell in code_cells(json.loads(released(module) or b'{"cells": []}'))]
    stub = next((text for source in stub_cells if (text := function_text(source, function))), "")
    try:
        notebook = json.loads(content)
        cells = [cell for cell in code_cells(notebook) if find_function("".join(cell["source"]), function)]
    except (ValueError, KeyError, TypeError, AttributeError):
        cells = []
    if not cells or not stub:
        raise UsageError(
            f"{module}{SUFFIX} has no readable cell that defines {function}. Reset the whole notebook: "
            f"headway reset {module}"
        )
    for cell in cells:  # The last of several definitions counts, so a stub must replace all of them.
        new = replace_function("".join(cell["source"]), function, stub)
        assert new is not None  # The cell was parsed above.
        cell["source"] = new
        cell["outputs"], cell["execution_count"] = [], None
    return to_ipynb(notebook)


def to_ipynb(notebook: dict[str, Any]) -> bytes:
    """Return the content of a notebook's file, as Jupyter writes it."""
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def reset(folder: Path, name: str, notebook: str) -> Path:
    """Restore the stub of a function, or the whole notebook, in the file `notebook`; return the backup."""
    module, _, function = name.partition(".")
    path = folder / notebook
    new = reset_function(path.read_bytes(), module, function) if function else released(module)
    if new is None:
        raise UsageError(f"this course has no notebook of {module}. To start again, delete {notebook}")
    backup = files.back_up(path, folder)
    files.write_bytes(path, new)
    return backup


def digest(content: bytes) -> str:
    """Return the SHA-256 of a notebook's code and text, which stays the same when it is run and saved."""
    cells: list[tuple[str, str]] = []
    with contextlib.suppress(Unreadable):
        cells = [(cell.kind, cell.source) for cell in submitted_cells(content)]
    return files.text_digest(repr(cells))


def update(folder: Path, state: State) -> list[str]:
    """Replace notebooks of another version in which nothing was changed; return lines that say what was done.

    The caller saves the state. A deleted notebook is not restored.
    """
    digests = state.section(files.STUBS)
    lines = []
    for module in state.curriculum.modules:
        path, new = folder / FOLDER / f"{module}{SUFFIX}", released(module)
        if new is None or not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        known, old, current = digests.get(name), digest(path.read_bytes()), digest(new)
        if old == current or known == current:  # Up to date, or work in the notebook of this version.
            digests[name] = current
        elif known == old:
            files.back_up(path, folder)
            files.write_bytes(path, new)
            digests[name] = current
            lines.append(f"{name}: replaced by the new one (you had not changed it)")
        elif known is not None:
            lines.append(f"{name}: kept, because you have changed it; there is a new one (headway reset {module})")
    return lines

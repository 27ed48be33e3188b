"""Copy an assignment's functions from its notebook into its file, or back, with what they use; a backup is kept."""

import ast
import contextlib
import json
from pathlib import Path
from typing import Any

from autograder.core.text import listed
from autograder.course.stubs import EXPERIMENT
from autograder.errors import UsageError
from autograder.parsing.extract import HEADER, cell_parts
from autograder.parsing.function_uses import written_functions
from autograder.workspace import files
from autograder.workspace.function_source import named_statements
from autograder.workspace.notebook_files import code_cells, to_ipynb
from autograder.workspace.sources import Version, written
from autograder.workspace.workspace import Workspace


def copy_version(workspace: Workspace, module: str, to: Version) -> Path:
    """Copy what is written in the other version of an assignment, let `to` count, and return the backup of `to`."""
    source = workspace.sources.get(module)
    if source is None:
        raise UsageError(f"there is no notebook of {module} in this workspace")
    other = source.notebook.module if to == "file" else source.file
    if to == "file" and source.notebook.problem:
        raise UsageError(f"{source.notebook.name} cannot be read: {source.notebook.problem}")
    if other is None or not (names := written(other, source.functions)):
        raise UsageError(f"nothing is written in the {'notebook' if to == 'file' else 'file'} of {module}")
    text = other.content.decode("utf-8", "replace")
    if text.startswith(HEADER):
        text = "\n\n\n".join(part for _, _, part in cell_parts(text))
    path = workspace.folder / (f"{module}.py" if to == "file" else source.notebook.name)
    if not path.is_file():
        raise UsageError(f"{path.name} is missing. Restore it: headway reset {module}")
    try:
        lines = text.split("\n")
        parts = {name or "\n".join(lines[where]): "\n".join(lines[where]) for name, where in _parts(text)}
        for stub in set(source.functions) - set(names):
            parts.pop(stub, None)
        old = path.read_bytes()
        new = _into_file(files.decode(path, old), parts) if to == "file" else _into_notebook(old, parts)
    except (SyntaxError, ValueError, RecursionError, LookupError, TypeError):
        raise UsageError(f"nothing was copied: Python cannot read {module} in both versions. Fix it first") from None
    backup = files.back_up(path, workspace.folder)
    files.write_bytes(path, new)
    workspace.refresh_snapshot()
    now = workspace.sources[module]
    file, notebook = (written_functions(one.content, names) if one else {} for one in (now.file, now.notebook.module))
    if differ := [name for name in names if file.get(name) != notebook.get(name)]:  # for example by a cell's magic
        files.write_bytes(path, old)
        (workspace.folder / backup).unlink()
        differing = listed(differ, 3)
        raise UsageError(f"nothing was copied: in {path.name}, {differing} would not be the same. Copy them by hand")
    workspace.choose_version(module, to)
    return backup


def _parts(text: str) -> list[tuple[str, slice]]:
    """Return the names and lines of the top-level statements without docstrings and experiments."""
    lines = text.split("\n")
    return [part for part in named_statements(text) if not lines[part[1].start].startswith(EXPERIMENT[:-1])]


def _merged(text: str, new: dict[str, str]) -> str:
    """Return a text in which the statements that are new under the same name are replaced; they leave `new`."""
    lines = text.split("\n")
    found = {name for name, _ in _parts(text)}
    for name, where in reversed(_parts(text)):
        if name in new:
            lines[where] = new[name].split("\n")
        elif "\n".join(lines[where]) in new:  # an import or another statement without a name
            new.pop("\n".join(lines[where]))
    for name in found:
        new.pop(name, None)
    return "\n".join(lines)


def _into_file(text: str, new: dict[str, str]) -> bytes:
    text = _merged(text, new)
    lines = text.split("\n")
    nodes = ast.parse(text).body
    end = max((node.end_lineno or 0 for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))), default=0)
    lines[end:end] = new.values()
    return "\n".join(lines).encode()


def _into_notebook(content: bytes, new: dict[str, str]) -> bytes:
    notebook = json.loads(content)
    cells = code_cells(notebook)
    left = dict(new)
    for cell in cells:
        with contextlib.suppress(SyntaxError, ValueError):  # A cell with a magic.
            wanted = dict(new)
            merged = _merged(text := "".join(cell["source"]), wanted)
            left = {name: part for name, part in left.items() if name in wanted}
            if merged != text:
                cell.update(source=merged, outputs=[], execution_count=None)
    if left:
        made: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        made["source"] = "\n\n\n".join(left.values())
        notebook["cells"].insert(notebook["cells"].index(cells[0]), made)
    return to_ipynb(notebook)

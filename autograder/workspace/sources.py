"""Decide which version of an assignment counts, `softmax.py` or its notebook, and provide those that count.

It is decided for an assignment as a whole. The version that has work counts, that is, a function that is more than a
stub. Where both have work and it differs, the one counts that was changed since they last agreed: since their functions
were the same, or the student chose one (`headway check softmax --use notebook`). Contents are compared for that,
because a copied or unpacked workspace has new times. Where both were changed since, or never agreed, the student must
choose; until then the one that was saved last counts, if their times differ.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from autograder.course import Curriculum
from autograder.course.stubs import EXPERIMENT, experiment_name
from autograder.errors import UsageError
from autograder.parsing.function_uses import written_functions
from autograder.workspace.dependencies import ModuleSource, Snapshot
from autograder.workspace.file_cells import split_cells
from autograder.workspace.files import stub_text
from autograder.workspace.notebook_files import NotebookFile

KEY = "sources"  # key of the state file: assignment -> the choice, and digests of both versions at that time
CLOCK_SECONDS = 2.0  # Times that are closer than this do not show what was saved last: copying takes only a moment.
Version = Literal["file", "notebook"]
# Why a version counts: it is the only one with work; both are the same; the student chose or imported it; only it was
# changed since; it is named in a command; and, while the student has not decided: it was saved last; unknown.
Reason = Literal["only", "same", "chosen", "imported", "changed", "named", "newer", "unknown"]


@dataclass(frozen=True)
class AssignmentSource:
    """The version of an assignment that counts."""

    module: str
    version: Version
    reason: Reason
    notebook: NotebookFile
    file: ModuleSource | None
    functions: tuple[str, ...]  # of the assignment, unqualified

    @property
    def name(self) -> str:
        """The path of the version that counts, in the workspace."""
        return self.notebook.name if self.version == "notebook" else f"{self.module}.py"

    @property
    def other_name(self) -> str:
        """The path of the version that does not count."""
        return f"{self.module}.py" if self.version == "notebook" else self.notebook.name

    @property
    def is_undecided(self) -> bool:
        """Whether the student must choose."""
        return self.reason in ("newer", "unknown")

    @cached_property
    def only_in_other(self) -> list[str]:
        """The functions that are written only in the version that does not count."""
        mine, other = written(self.file, self.functions), written(self.notebook.module, self.functions)
        if self.version == "notebook":
            mine, other = other, mine
        return [name for name in other if name not in mine]

    def record(self, version: Version) -> dict[str, str]:
        """Return the entry of the state file for a choice."""
        return {"counts": version, "file": _digest(self.file), "notebook": _digest(self.notebook.module)}


def decide(
    functions: tuple[str, ...], file: ModuleSource | None, file_saved: float, notebook: NotebookFile, recorded: Any
) -> tuple[Version, Reason]:
    """Return which version of an assignment counts, and why, given the entry of the state file, if there is one."""
    if notebook.module is None:  # as it was released, without the assignment's functions, or unreadable
        return "file", "only"
    choice = _read_record(recorded)
    changed: set[Version] = set()
    if choice is not None:
        versions: dict[Version, ModuleSource | None] = {"file": file, "notebook": notebook.module}
        changed = {version for version, source in versions.items() if _digest(source) != choice[version]}
        if not changed:
            return choice["counts"], "imported" if choice.get("by") == "import" else "chosen"
    if not written(notebook.module, functions):
        return "file", "only"
    if not written(file, functions):
        return "notebook", "only"
    if is_same(file, notebook.module, functions):
        return choice["counts"] if choice else "file", "same"
    if len(changed) == 1:
        return changed.pop(), "changed"
    if abs(notebook.saved - file_saved) < CLOCK_SECONDS:
        return "file", "unknown"
    return "notebook" if notebook.saved > file_saved else "file", "newer"


def _read_record(recorded: Any) -> dict[str, Any] | None:
    match recorded:
        case {"counts": counts, "file": str(), "notebook": str()} if counts in get_args(Version):
            return dict(recorded)
    return None


def written(source: ModuleSource | None, functions: tuple[str, ...]) -> list[str]:
    """Return the functions of an assignment that are more than a stub; all of them if Python cannot read the file."""
    return list(_functions(source.content, functions)) if source is not None else []


def is_same(file: ModuleSource | None, notebook: ModuleSource | None, functions: tuple[str, ...]) -> bool:
    """Return whether two versions have the same functions, with what they use, apart from comments and docstrings."""
    if file is None or notebook is None:
        return False
    return _functions(file.content, functions) == _functions(notebook.content, functions)


_functions = lru_cache(maxsize=64)(written_functions)


def _digest(source: ModuleSource | None) -> str:
    """Return a digest of what a version defines, without comments and docstrings."""
    if source is None:
        return ""
    parsed = source.parsed
    text = repr(sorted(parsed.definitions.items())) if parsed.error is None else repr(source.content)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def split_file_names(names: Iterable[str], curriculum: Curriculum) -> tuple[tuple[str, ...], dict[str, Version]]:
    """Return the names of assignments and functions, where a user may also name files; and the versions so named.

    `notebooks/softmax.ipynb` names the assignment softmax and its notebook.
    """
    plain, named = [], dict[str, Version]()
    for name in names:
        path = Path(name.strip().replace("\\", "/"))
        if path.suffix in (".py", ".ipynb") and path.stem in curriculum.modules:
            version: Version = "file" if path.suffix == ".py" else "notebook"
            if named.setdefault(path.stem, version) != version:
                raise UsageError(f"{path.stem} is named as a file and as a notebook. Name one of them")
            plain.append(path.stem)
        elif path.suffix == ".ipynb":
            known = f"{next(iter(curriculum.modules))}.ipynb"
            raise UsageError(f"{name} is not the notebook of an assignment, such as {known}. List them: headway list")
        else:
            plain.append(name)
    return tuple(plain), named


def describe(source: AssignmentSource, *, command: bool = True) -> str:
    """Return a line that says which version counts and why; empty if there is nothing to say.

    Where the student must choose, it ends with the `command` that does so.
    """
    name, both = source.name, f"{source.module}.py and {source.notebook.name} both contain your work, and they differ."
    if source.reason == "named":
        return f"{source.module}: {name} was checked. {source.other_name} counts, so this is not recorded."
    reason = {
        "only": f"Your work is in {name}.",
        "same": f"Your work is in {name}.",
        "imported": f"{name} counts, because it was imported.",
        "chosen": f"{name} counts, as you decided.",
        "changed": f"{name} counts, because you changed it last.",
        "newer": f"{both} {name} was saved last, so it counts for now.",
        "unknown": f"{both} Their times do not say which one was saved last, so {name} counts for now.",
    }[source.reason]
    if source.version == "file" and source.reason in ("only", "same", "imported", "chosen"):
        reason = ""  # what everybody expects
    if source.notebook.problem:
        reason = f"{source.notebook.name} cannot be read: {source.notebook.problem}. {source.module}.py counts."
    if source.only_in_other and source.reason != "only":
        names = ", ".join(source.only_in_other)
        reason = f"{reason} Written only in {source.other_name}, which does not count: {names}.".strip()
    if source.is_undecided and command:
        other: Version = "file" if source.version == "notebook" else "notebook"
        reason += f" Choose one: headway check {source.module} --use {source.version} (or --use {other})"
    return f"{source.module}: {reason}" if reason else ""


class ModuleFolder:
    """The folder from which student code is imported: the workspace, or a copy in which notebooks replace files."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._copy: Path | None = None  # deleted with this object
        self.path = workspace

    def update(self, snapshot: Snapshot, from_notebooks: Collection[AssignmentSource]) -> None:
        """Make `path` a folder with the modules of a snapshot."""
        if not from_notebooks:
            self.path = self._workspace
            return
        if self._copy is None:
            self._copy = Path(tempfile.mkdtemp(prefix="headway-"))
            weakref.finalize(self, shutil.rmtree, self._copy, ignore_errors=True)
        self.path = self._copy
        modules = {f"{name}.py": module.content for name, module in snapshot.modules.items()}
        for source in from_notebooks:  # So that `headway experiment` runs them.
            modules[f"{source.module}.py"] += f"\n\n{_experiments(source.module, snapshot.curriculum)}".encode()
        for name, content in modules.items():
            path = self.path / name
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)
        entries = {path.name: path for path in self._workspace.iterdir() if path.suffix != ".py"}
        others = {name: path for name, path in entries.items() if not name.startswith((".", "__pycache__"))}
        for path in self.path.iterdir():
            if path.name not in modules and path.name not in others:
                with contextlib.suppress(OSError):  # A folder, such as __pycache__.
                    path.unlink()
        for name, original in others.items():  # Student code may read its own files.
            with contextlib.suppress(OSError):  # It exists already, or this system has no links.
                os.symlink(original.absolute(), self.path / name)


def _experiments(module: str, curriculum: Curriculum) -> str:
    """Return the experiments of an assignment as they stand in its file, for a module that comes from a notebook."""
    text = stub_text(module, curriculum)
    imports = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
    begin = "\n".join([EXPERIMENT, *(f"    {line}" for line in imports)])
    return "\n\n".join([begin, *(cell.text for cell in split_cells(text) if experiment_name(cell.text) is not None)])

"""The folder from which student code is imported: the workspace, or a copy in which notebooks replace files."""

import contextlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Collection
from pathlib import Path

from autograder.course import Curriculum
from autograder.course.stubs import EXPERIMENT, experiment_name
from autograder.workspace.dependencies import Snapshot
from autograder.workspace.files import stub_text
from autograder.workspace.sources import AssignmentSource


class ModuleFolder:
    """Provides the modules that count as files, for processes that import them."""

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
    cells = re.split(r"(?m)^# %%.*\n+", text)
    begin = "\n".join([EXPERIMENT, *(f"    {line}" for line in imports)])
    return "\n\n".join([begin, *(cell for cell in cells if experiment_name(cell) is not None)])

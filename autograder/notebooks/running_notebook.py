"""A running notebook as a submission: its functions, from the cells that were run, and the modules they need.

An earlier assignment comes from the first of these places; the report names it:

1. this notebook
2. `softmax.py` or `softmax.ipynb` in the notebook's folder, in the folder above, or in the neighbouring folder
   `softmax`, if some function in it is more than a stub
3. the official solution

`from softmax import softmax` in a cell finds the same module.
"""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.curriculum import Curriculum, registry
from autograder.curriculum.stubs import bundled
from autograder.notebooks import extract
from autograder.notebooks.cell_statements import Cell, Statement, imported_roots, read_statements

OFFICIAL_ORIGIN = "official solution"


@dataclass(frozen=True)
class EarlierAssignment:
    """The text of an earlier assignment, and where it comes from."""

    text: str
    origin: str


@dataclass
class NotebookSubmission:
    """A submission assembled from a running notebook.

    Attributes:
        texts: source text by module.
        own_modules: modules whose text comes from the notebook itself.
        origins: where the other modules come from that these import.
    """

    texts: dict[str, str] = field(default_factory=dict)
    own_modules: set[str] = field(default_factory=set)
    origins: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the modules as files."""
        for module, text in self.texts.items():
            (folder / f"{module}.py").write_bytes(text.encode("utf-8", "replace"))


def executed_cells() -> list[Cell]:
    """Return the cells that were run in this kernel, in the order in which they were run; none outside IPython."""
    shell = _shell()
    if shell is None:
        return []
    history = shell.history_manager.input_hist_raw
    return [Cell(f"In [{number}]", source) for number, source in enumerate(history) if number and source]


def namespace() -> dict[str, Any]:
    """Return the notebook's global names and values."""
    shell = _shell()
    return dict(shell.user_ns) if shell is not None else {}


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def assemble_submission(
    module: str, cells: Sequence[Cell], folder: Path, curriculum: Curriculum, *, as_run: bool = True
) -> NotebookSubmission:
    """Assemble `module` of a notebook with the modules that it imports.

    Args:
        cells: the cells that were run.
        folder: the notebook's folder.
        as_run: see `extract.extract_modules`.
    """
    texts = extract.extract_modules(cells, curriculum, f"{module}.ipynb", as_run=as_run)
    submission = NotebookSubmission(dict(texts), set(texts))
    if module not in texts:
        file = folder / f"{module}.py"  # `from softmax import softmax; check(softmax)`
        submission.texts[module] = file.read_text("utf-8-sig", "replace") if file.is_file() else ""
    unread = [*submission.texts]
    while unread:
        imported = imported_roots(submission.texts[unread.pop()]) & curriculum.modules.keys()
        for name in sorted(imported - submission.texts.keys()):
            earlier = find_earlier_assignment(name, folder, curriculum)
            submission.texts[name], submission.origins[name] = earlier.text, earlier.origin
            unread.append(name)
    for path in sorted(folder.glob("*.py"))[:200]:  # the student's own helper modules
        if path.stem not in curriculum.modules and path.is_file() and path.stat().st_size < 1 << 20:
            submission.texts.setdefault(path.stem, path.read_text("utf-8-sig", "replace"))
    return submission


def find_earlier_assignment(module: str, folder: Path, curriculum: Curriculum) -> EarlierAssignment:
    """Return an earlier assignment from the first place where some function of it is written.

    Args:
        folder: the notebook's folder.
    """
    for place in (folder, folder.parent, folder.parent / module):
        for path, read_module in ((place / f"{module}.py", _read_file), (place / f"{module}.ipynb", _read_notebook)):
            text = read_module(path, module, curriculum)
            if text is not None and _is_started(text, module, curriculum):
                origin = path.name if path.parent == folder else f"{path.parent.name}/{path.name}"
                return EarlierAssignment(text, origin)
    return EarlierAssignment((bundled("solutions") / f"{module}.py").read_text("utf-8"), OFFICIAL_ORIGIN)


def _read_file(path: Path, module: str, curriculum: Curriculum) -> str | None:
    try:
        return path.read_text("utf-8-sig", "replace")
    except OSError:
        return None


def _read_notebook(path: Path, module: str, curriculum: Curriculum) -> str | None:
    from autograder.core.zip_archive import SkippedFile
    from autograder.notebooks.read_ipynb import read_modules

    try:
        return read_modules(path.read_bytes(), curriculum, path.name).get(f"{module}.py", b"").decode()
    except (OSError, SkippedFile):
        return None


def _is_started(text: str, module: str, curriculum: Curriculum) -> bool:
    """Return whether some function of the module is more than a stub. A file that is not Python counts as started."""
    names = {function.name for function in curriculum.modules[module].functions}
    return any(
        not isinstance(statement, Statement) or (statement.binds & names and not extract.is_stub(statement.node))
        for statement in read_statements([Cell(module, text)])
    )


class EarlierAssignmentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes imports of earlier assignments in a notebook find the modules that checks use."""

    def __init__(self, curriculum: Curriculum) -> None:
        self._curriculum = curriculum

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the specification of a module of the course; None for other modules."""
        if fullname not in self._curriculum.modules:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=_cached_assignment(fullname, Path.cwd()).origin)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module's text."""
        earlier = _cached_assignment(module.__name__, Path.cwd())
        exec(compile(earlier.text, f"<{module.__name__}: {earlier.origin}>", "exec"), module.__dict__)


@functools.cache
def _cached_assignment(module: str, folder: Path) -> EarlierAssignment:
    return find_earlier_assignment(module, folder, registry.default())


def install_finder() -> None:
    """Let a notebook's imports find earlier assignments; does nothing outside IPython."""
    if _shell() is not None and not any(isinstance(finder, EarlierAssignmentFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, EarlierAssignmentFinder(registry.default()))

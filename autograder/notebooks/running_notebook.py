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
    """An earlier assignment: its text, and where it is from."""

    text: str
    origin: str


@dataclass
class NotebookSubmission:
    """A submission made of a running notebook.

    Attributes:
        texts: source text by module.
        own: modules whose text comes from the notebook itself.
        origins: where the other modules that these import are from.
    """

    texts: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    origins: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the modules as files."""
        for module, text in self.texts.items():
            (folder / f"{module}.py").write_bytes(text.encode("utf-8", "replace"))


def executed_cells() -> list[Cell]:
    """The cells that were run in this kernel, in the order in which they were run; empty outside of IPython."""
    shell = _shell()
    if shell is None:
        return []
    history = shell.history_manager.input_hist_raw
    return [Cell(f"In [{number}]", source) for number, source in enumerate(history) if number and source]


def namespace() -> dict[str, Any]:
    """The notebook's global names."""
    shell = _shell()
    return dict(shell.user_ns) if shell is not None else {}


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def assemble_submission(
    module: str, cells: Sequence[Cell], beside: Path, curriculum: Curriculum, *, as_run: bool = True
) -> NotebookSubmission:
    """Put `module` of a notebook together with what it needs.

    Args:
        cells: what was run.
        beside: the notebook's folder.
        as_run: see `extract.extract_modules`.
    """
    found = extract.extract_modules(cells, curriculum, f"{module}.ipynb", as_run=as_run)
    made = NotebookSubmission(dict(found), set(found))
    if module not in found:
        file = beside / f"{module}.py"  # `from softmax import softmax; check(softmax)`
        made.texts[module] = file.read_text("utf-8-sig", "replace") if file.is_file() else ""
    waiting = [*made.texts]
    while waiting:
        for name in sorted((imported_roots(made.texts[waiting.pop()]) & curriculum.modules.keys()) - made.texts.keys()):
            there = find_earlier_assignment(name, beside, curriculum)
            made.texts[name], made.origins[name] = there.text, there.origin
            waiting.append(name)
    for path in sorted(beside.glob("*.py"))[:200]:  # the student's own helper modules
        if path.stem not in curriculum.modules and path.is_file() and path.stat().st_size < 1 << 20:
            made.texts.setdefault(path.stem, path.read_text("utf-8-sig", "replace"))
    return made


def find_earlier_assignment(module: str, beside: Path, curriculum: Curriculum) -> EarlierAssignment:
    """An earlier assignment, from the first place that has something written in it."""
    for folder in (beside, beside.parent, beside.parent / module):
        text = _written(folder / f"{module}.py", module, curriculum)
        if text is not None:
            return EarlierAssignment(text, _shown(folder / f"{module}.py", beside))
        text = _in_notebook(folder / f"{module}.ipynb", module, curriculum)
        if text is not None:
            return EarlierAssignment(text, _shown(folder / f"{module}.ipynb", beside))
    return EarlierAssignment((bundled("solutions") / f"{module}.py").read_text("utf-8"), OFFICIAL_ORIGIN)


def _shown(path: Path, beside: Path) -> str:
    return path.name if path.parent == beside else f"{path.parent.name}/{path.name}"


def _written(path: Path, module: str, curriculum: Curriculum) -> str | None:
    try:
        text = path.read_text("utf-8-sig", "replace")
    except OSError:
        return None
    return text if _started(text, module, curriculum) else None


def _in_notebook(path: Path, module: str, curriculum: Curriculum) -> str | None:
    from autograder.core.zip_archive import SkippedFile
    from autograder.notebooks.read_ipynb import read_modules

    try:
        content = read_modules(path.read_bytes(), curriculum, path.name).get(f"{module}.py", b"")
    except (OSError, SkippedFile):
        return None
    text = content.decode()
    return text if _started(text, module, curriculum) else None


def _started(text: str, module: str, curriculum: Curriculum) -> bool:
    """Whether some function of the contract is more than a stub; a file that is no Python was somebody's work too."""
    names = {function.name for function in curriculum.modules[module].functions}
    return any(
        not isinstance(statement, Statement) or (statement.makes & names and not extract.is_stub(statement.node))
        for statement in read_statements([Cell(module, text)])
    )


class EarlierAssignmentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports of earlier assignments in a notebook find what checks are run with."""

    def __init__(self, curriculum: Curriculum) -> None:
        self._curriculum = curriculum

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The specification of a module of the course; None for all others."""
        if fullname not in self._curriculum.modules:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=_found(fullname, Path.cwd()).origin)

    def exec_module(self, module: ModuleType) -> None:
        """Run its text."""
        there = _found(module.__name__, Path.cwd())
        exec(compile(there.text, f"<{module.__name__}: {there.origin}>", "exec"), module.__dict__)


@functools.cache
def _found(module: str, beside: Path) -> EarlierAssignment:
    return find_earlier_assignment(module, beside, registry.default())


def install_finder() -> None:
    """Let a notebook's imports find earlier assignments. Outside of IPython nothing is changed."""
    if _shell() is not None and not any(isinstance(finder, EarlierAssignmentFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, EarlierAssignmentFinder(registry.default()))

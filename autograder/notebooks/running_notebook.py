"""A running notebook as a submission: its functions, from the cells that were run, and the modules they need.

An earlier assignment comes from the first of these places; the report names it:

1. this notebook
2. the version that counts in the workspace: its file or its notebook
3. `softmax.py` or `softmax.ipynb` in the notebook's folder, in the folder above, or in the neighboring folder
   `softmax`, if some function in it is more than a stub
4. the official solution

`from softmax import softmax` in a cell finds the same module.
"""

import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from autograder.core.safe_output import echo
from autograder.course import Curriculum, registry
from autograder.parsing import Unreadable, extract
from autograder.parsing.cell_statements import Cell, imported_roots, read_statements
from autograder.parsing.read_ipynb import read_modules
from autograder.workspace.workspace import Workspace

OFFICIAL_ORIGIN = "official solution"


class EarlierAssignment(NamedTuple):
    """The text of an earlier assignment, and where it comes from."""

    text: str
    origin: str


@dataclass
class NotebookSubmission:
    """A submission assembled from a running notebook."""

    texts: dict[str, str]  # source text by module
    own_modules: set[str]  # modules whose text comes from the notebook itself
    origins: dict[str, str] = field(default_factory=dict)  # where the other modules come from that these import


_course = registry.default()  # of this kernel's notebook


def use_course(name: str) -> None:
    """Let the notebook's checks and imports use another course; raise UsageError if it is not installed."""
    global _course
    _course = registry.load(name)
    _cached_assignment.cache_clear()


def course() -> Curriculum:
    """Return the course of the running notebook."""
    return _course


def executed_cells() -> list[Cell]:
    """Return the cells that were run in this kernel, in the order in which they were run; none outside IPython."""
    history = shell.history_manager.input_hist_raw if (shell := _shell()) else []
    return [Cell(f"In [{number}]", source) for number, source in enumerate(history) if number and source]


def namespace() -> dict[str, Any]:
    """Return the notebook's global names and values."""
    return dict(shell.user_ns) if (shell := _shell()) else {}


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def write_next_cell(text: str) -> None:
    """Put a new cell below the one that runs; print the text outside IPython."""
    shell = _shell()
    shell.set_next_input(text) if shell else echo(text, end="")


def find_workspace(folder: Path) -> Workspace | None:
    """Return the workspace of a notebook in `folder`: this folder or the one above, if `headway init` made it."""
    for place in (folder, folder.parent):
        workspace = Workspace.open(place)
        if workspace.is_initialized:
            return workspace
    return None


def assemble_submission(
    module: str, cells: Sequence[Cell], folder: Path, curriculum: Curriculum, *, as_run: bool = True
) -> NotebookSubmission:
    """Assemble `module` of a notebook in `folder`, from the cells that were run, with the modules that it imports."""
    texts = extract.extract_modules(cells, curriculum.function_names, f"{module}.ipynb", as_run=as_run)
    submission = NotebookSubmission(texts, set(texts))
    if module not in texts:
        file = folder / f"{module}.py"  # `from softmax import softmax; check(softmax)`
        submission.texts[module] = file.read_text("utf-8-sig", "replace") if file.is_file() else ""
    unread = [*submission.texts]
    while unread:
        imported = imported_roots(submission.texts[unread.pop()]) & {*curriculum.modules, *curriculum.given_modules}
        for name in sorted(imported - submission.texts.keys()):
            submission.texts[name], submission.origins[name] = find_earlier_assignment(name, folder, curriculum)
            unread.append(name)
    for path in sorted(folder.glob("*.py"))[:200]:  # the student's own helper modules
        if path.stem not in curriculum.modules and path.is_file() and path.stat().st_size < 1 << 20:
            submission.texts.setdefault(path.stem, path.read_text("utf-8-sig", "replace"))
    return submission


def find_earlier_assignment(module: str, folder: Path, curriculum: Curriculum) -> EarlierAssignment:
    """Return an earlier assignment from the first place, seen from the notebook's folder, where it has been started."""
    for path, text in _versions(module, folder, curriculum):
        if _is_started(text, module, curriculum):
            place = path.parent.resolve()
            return EarlierAssignment(text, path.name if place == folder.resolve() else f"{place.name}/{path.name}")
    return EarlierAssignment(registry.solution_text(module, curriculum.package), OFFICIAL_ORIGIN)


def _versions(module: str, folder: Path, curriculum: Curriculum) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each version of an assignment that can be read, in the order of the places."""
    workspace = find_workspace(folder)
    if workspace is not None and workspace.curriculum.package == curriculum.package and module in workspace.sources:
        source = workspace.snapshot.modules.get(module)
        text = source.content.decode("utf-8-sig", "replace") if source else ""
        yield workspace.folder / workspace.file_of(module), text
    for place in () if module in curriculum.given_modules else (folder, folder.parent, folder.parent / module):
        with contextlib.suppress(OSError):
            path = place / f"{module}.py"
            yield path, path.read_text("utf-8-sig", "replace")
        with contextlib.suppress(OSError, Unreadable):
            path = place / f"{module}.ipynb"
            found = read_modules(path.read_bytes(), curriculum.function_names, path.name)
            yield path, found.get(f"{module}.py", b"").decode()


def _is_started(text: str, module: str, curriculum: Curriculum) -> bool:
    """Return whether some function of the module is more than a stub. A file that is not Python counts as started."""
    names = curriculum.function_names[module]
    return any(
        statement.error or (not statement.binds.isdisjoint(names) and not extract.is_stub(statement.node))
        for statement in read_statements([Cell(module, text)])
    )


class EarlierAssignmentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes imports of earlier assignments in a notebook find the modules that checks use."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the specification of a module of the course; None for other modules."""
        if fullname not in (*course().modules, *course().given_modules):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=_cached_assignment(fullname, Path.cwd()).origin)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module's text."""
        earlier = _cached_assignment(module.__name__, Path.cwd())
        exec(compile(earlier.text, f"<{module.__name__}: {earlier.origin}>", "exec"), module.__dict__)


@functools.cache
def _cached_assignment(module: str, folder: Path) -> EarlierAssignment:
    return find_earlier_assignment(module, folder, course())


def install_finder() -> None:
    """Let a notebook's imports find earlier assignments; does nothing outside IPython."""
    if _shell() is not None and not any(isinstance(finder, EarlierAssignmentFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, EarlierAssignmentFinder())

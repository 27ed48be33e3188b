"""A preprocessor for `nbgrader autograde` that repairs what students do to a notebook's cells.

nbgrader identifies cells by their metadata. A copied cell has the id of the original; a cell that was split, pasted or
saved by another editor may have no metadata or damaged metadata; a graded cell may have been deleted. nbgrader 0.9
gives such work no points or stops with an error (in `add_missing_cells`, for copied cells). Headway's graded cells
find the functions by name, so it is enough that each of them exists once, at the end if necessary. Notebooks without
Headway's graded cells are left as they are.
"""

from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.notebooks.cells import code
from autograder.notebooks.student_notebooks import GRADE

_KINDS = ("grade", "solution", "locked")


class RepairCells(NbGraderPreprocessor):  # type: ignore[misc]
    """Remove unreadable and duplicate cell metadata, and append missing graded cells."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Repair a submitted notebook; nbgrader's next steps fill in the text of locked and graded cells."""
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as book:
            notebook = book.find_notebook(where["notebook"], where["assignment"])
            if not any(GRADE in cell.source for cell in notebook.source_cells if cell.source):
                return nb, resources
            graded_cells = [(cell.name, cell.max_score) for cell in notebook.grade_cells]
        seen: set[str | None] = {None}
        for cell in reversed(nb.cells):  # of several copies the last one counts, as in nbgrader
            if (name := _grade_id(cell)) in seen:
                cell.metadata.pop("nbgrader", None)
            seen.add(name)
        for name, points in graded_cells:
            if name in seen:
                continue
            graded = code("", grade=True, locked=True, grade_id=name, points=points, cell_type="code")
            nb.cells.append(new_code_cell(metadata=graded["metadata"]))
        return nb, resources


def _grade_id(cell: NotebookNode) -> str | None:
    """Return the id of an nbgrader cell; None for any other cell, or if the metadata is damaged."""
    metadata = cell.metadata.get("nbgrader")
    if not isinstance(metadata, dict) or not all(isinstance(metadata.get(kind), bool) for kind in _KINDS):
        return None
    name = metadata.get("grade_id")
    readable = metadata.get("schema_version") == 3 and (not metadata["grade"] or "points" in metadata)
    return name if isinstance(name, str) and name and readable else None

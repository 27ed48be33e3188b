"""Write nbgrader's autograded notebooks from Headway's results, for formgrader and `nbgrader generate_feedback`.

nbgrader keeps the points in its gradebook and one autograded notebook per student. `headway grade` runs no notebook, so
this module writes what nbgrader would have written: the student's cells, unchanged, and after each function its graded
cell with Headway's report as the output. The student's own outputs are left out. Cell metadata may be damaged and is
ignored: a cell counts as the answer to the functions that it defines.
"""

import ast
import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.notebooks import cells as notebook_cells
from autograder.notebooks.cell_statements import Cell, Statement, read_statements
from autograder.notebooks.read_ipynb import NotebookCell, submitted_cells
from autograder.notebooks.student_notebooks import HIDDEN
from autograder.report.notebook import NotebookReport

Document = dict[str, Any]
# The released graded cells, which are replaced. Before version 0.2 they imported `autograder.notebook`.
_GRADED = re.compile(
    r'\s*from autograder\.(?:notebooks\.api|notebook) import grade\s+grade\("[\w.]+", points=[\d.]+\)\s*'
)


@dataclass
class InstructorNotebook:
    """The instructor's notebook of an assignment; empty if it cannot be read.

    Attributes:
        graded: its graded cells without their hidden lines, by grade id, which is the function's name.
        answers: the grade id of the cell in which a function is written, by the function's name.
    """

    path: Path
    graded: dict[str, notebook_cells.NotebookNode] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            for cell in json.loads(self.path.read_bytes())["cells"]:
                text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
                self._add(cell, cell["metadata"].get("nbgrader", {}), text)

    def _add(self, cell: notebook_cells.NotebookNode, about: dict[str, Any], text: str) -> None:
        if about.get("grade") and not about.get("solution"):
            self.graded[about["grade_id"]] = notebook_cells.code(_without_hidden(text), **about)
        elif about.get("solution") and cell["cell_type"] == "code":
            self.answers.update(dict.fromkeys(_defined(text), about["grade_id"]))

    @property
    def solution_ids(self) -> list[str]:
        """Grade ids of the cells that students write."""
        return list(dict.fromkeys(self.answers.values()))


def graded_notebook(submitted: bytes, source: InstructorNotebook, document: Document, assignment: Document) -> str:
    """Return a student's notebook with Headway's report.

    Args:
        submitted: the submitted notebook file.
        source: the instructor's notebook.
        document: the student's result document.
        assignment: the assignment's entry in it.

    Raises:
        SkippedFile: if the submitted notebook cannot be read.
    """
    functions = _functions(source, assignment)
    cells = [cell for cell in submitted_cells(submitted) if cell.kind != "code" or not _GRADED.fullmatch(cell.source)]
    by_cell = _functions_by_cell(cells, set(functions))
    written: list[notebook_cells.NotebookNode] = []
    unused_ids = dict(source.answers)
    for i, cell in enumerate(cells):
        ids = [unused_ids[name] for name in by_cell.get(i, ()) if name in unused_ids][:1]
        unused_ids = {name: grade_id for name, grade_id in unused_ids.items() if grade_id not in ids}
        if cell.kind == "markdown":
            written.append(notebook_cells.markdown(cell.source))
        else:
            metadata = {"solution": True, "grade_id": ids[0]} if ids else {}
            written.append(notebook_cells.code(cell.source, **metadata))
        for name in by_cell.get(i, ()):
            written.append(_with_report(source.graded[name], functions.pop(name), document, assignment))
    for name, function in functions.items():  # not defined in any cell
        written.append(_with_report(source.graded[name], function, document, assignment))
    return notebook_cells.unvalidated_notebook_text(assignment["name"], written)


def ungraded_notebook(reason: str, source: InstructorNotebook, document: Document, assignment: Document) -> str:
    """Return the notebook for a submission that could not be read: the reason, and the graded cells."""
    functions = _functions(source, assignment)
    cells = [_with_report(source.graded[name], function, document, assignment) for name, function in functions.items()]
    return notebook_cells.unvalidated_notebook_text(assignment["name"], [notebook_cells.markdown(reason), *cells])


def _functions(source: InstructorNotebook, assignment: Document) -> dict[str, Document]:
    return {function["name"]: function for function in assignment["functions"] if function["name"] in source.graded}


def _functions_by_cell(cells: list[NotebookCell], functions: set[str]) -> dict[int, list[str]]:
    """Return the functions by the number of the last cell that defines them."""
    last: dict[str, int] = {}
    for i, cell in enumerate(cells):
        for statement in read_statements([Cell("", cell.source)]) if cell.kind == "code" else ():
            is_import = isinstance(statement, Statement) and isinstance(statement.node, (ast.Import, ast.ImportFrom))
            last.update(dict.fromkeys(set() if is_import else statement.binds & functions, i))
    by_cell: dict[int, list[str]] = {}
    for name, i in sorted(last.items()):
        by_cell.setdefault(i, []).append(name)
    return by_cell


def _with_report(
    cell: notebook_cells.NotebookNode, function: Document, document: Document, assignment: Document
) -> notebook_cells.NotebookNode:
    only_function = {**assignment, "functions": [function]}
    report = NotebookReport(
        {**document, "assignments": [only_function], "points": function["points"], "internal_errors": []},
        {f"{assignment['name']}.{entry['name']}": entry["status"] for entry in assignment["functions"]},
        {},
    )
    graded = notebook_cells.code(cell["source"], **cell["metadata"]["nbgrader"])
    graded["outputs"] = [notebook_cells.display_output(report._repr_mimebundle_())]
    return graded


def _defined(text: str) -> Iterator[str]:
    for statement in read_statements([Cell("", text)]):
        if isinstance(statement, Statement) and isinstance(statement.node, ast.FunctionDef):
            yield statement.node.name


def _without_hidden(text: str) -> str:
    head, begin, rest = text.partition(HIDDEN[0] + "\n")
    return head + rest.partition(HIDDEN[1] + "\n")[2] if begin else text

"""Write nbgrader's autograded notebooks from Headway's results, for formgrader and `nbgrader generate_feedback`.

nbgrader keeps the points in its gradebook and one autograded notebook per student. `headway grade` runs no notebook, so
this module writes what nbgrader would have written: the student's cells, unchanged, and after each function its graded
cell with Headway's report as the output. The student's own outputs are left out, and Markdown that is not the lesson's
is shown as it was typed: formgrader's page would run the scripts in it. Cell metadata may be damaged and is ignored: a
cell counts as the answer to the functions that it defines.
"""

import ast
import contextlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from autograder.core.text import code_block
from autograder.documents.reading import Document
from autograder.notebooks import cells as notebook_cells
from autograder.notebooks.student_notebooks import HIDDEN
from autograder.parsing.cell_statements import Cell, read_statements
from autograder.report.check_report import NotebookReport
from autograder.sandbox.source_reader import DefiningCell, SourceReader

# The released graded cells, which are replaced.
_GRADED = re.compile(r'\s*from autograder\.notebooks\.api import grade\s+grade\("[\w.]+", points=[\d.]+\)\s*')
_HIDDEN_LINES = re.compile(rf"{HIDDEN[0]}\n.*?(?:{HIDDEN[1]}\n|\Z)", re.DOTALL)


@dataclass
class InstructorNotebook:
    """The instructor's notebook of an assignment; empty if it cannot be read."""

    path: Path
    # Its graded cells without their hidden lines, by grade id, which is the function's name.
    graded: dict[str, notebook_cells.NotebookNode] = field(default_factory=dict)
    # The grade id of the cell in which a function is written, by the function's name.
    answers: dict[str, str] = field(default_factory=dict)
    lessons: set[str] = field(default_factory=set)  # its Markdown

    def __post_init__(self) -> None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            for cell in json.loads(self.path.read_bytes())["cells"]:
                text, about = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
                if cell["cell_type"] == "markdown":
                    self.lessons.add(text)
                elif about.get("grade") and not about.get("solution"):
                    self.graded[about["grade_id"]] = notebook_cells.code(_HIDDEN_LINES.sub("", text), **about)
                elif about.get("solution") and cell["cell_type"] == "code":
                    nodes = [statement.node for statement in read_statements([Cell("", text)])]
                    names = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
                    self.answers.update(dict.fromkeys(names, about["grade_id"]))


def graded_notebook(
    submitted: bytes, source: InstructorNotebook, document: Document, assignment: Document, reader: SourceReader
) -> str:
    """Return a submitted notebook with Headway's report; raise SkippedFile if it cannot be read."""
    graded = _graded_cells(source, document, assignment)
    cells = reader.notebook_cells(submitted, graded)
    cells = [cell for cell in cells if cell.kind != "code" or not _GRADED.fullmatch(cell.source)]
    by_cell = _functions_by_cell(cells)
    written: list[notebook_cells.NotebookNode] = []
    unused_ids = dict(source.answers)
    for i, cell in enumerate(cells):
        ids = [unused_ids[name] for name in by_cell[i] if name in unused_ids][:1]
        unused_ids = {name: grade_id for name, grade_id in unused_ids.items() if grade_id not in ids}
        if cell.kind == "markdown":
            text = cell.source if cell.source in source.lessons else code_block(cell.source)
            written.append(notebook_cells.markdown(text))
        else:
            metadata = {"solution": True, "grade_id": ids[0]} if ids else {}
            written.append(notebook_cells.code(cell.source, **metadata))
        written += [graded.pop(name) for name in by_cell[i]]
    written += graded.values()  # of functions that are not defined in any cell
    return notebook_cells.unvalidated_notebook_text(assignment["name"], written)


def ungraded_notebook(reason: str, source: InstructorNotebook, document: Document, assignment: Document) -> str:
    """Return the notebook for a submission that could not be read: the reason, and the graded cells."""
    cells = [notebook_cells.markdown(reason), *_graded_cells(source, document, assignment).values()]
    return notebook_cells.unvalidated_notebook_text(assignment["name"], cells)


def _functions_by_cell(cells: list[DefiningCell]) -> dict[int, list[str]]:
    """Return the functions by the number of the last cell that defines them."""
    last = {name: i for i, cell in enumerate(cells) for name in cell.defines}
    by_cell = defaultdict(list)
    for name, i in sorted(last.items()):
        by_cell[i].append(name)
    return by_cell


def _graded_cells(
    source: InstructorNotebook, document: Document, assignment: Document
) -> dict[str, notebook_cells.NotebookNode]:
    """Return the graded cell of each function, with Headway's report as its output."""
    cells = {}
    progress = {f"{assignment['name']}.{entry['name']}": entry["status"] for entry in assignment["functions"]}
    for function in assignment["functions"]:
        if (cell := source.graded.get(function["name"])) is not None:
            only_function = {"assignments": [{**assignment, "functions": [function]}], "points": function["points"]}
            report = NotebookReport({**document, **only_function, "internal_errors": []}, progress, {})
            output = {"output_type": "display_data", "data": report._repr_mimebundle_(), "metadata": {}}
            cells[function["name"]] = {**cell, "outputs": [output]}
    return cells

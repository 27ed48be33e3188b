"""nbgrader's autograded notebooks from our results, so that formgrader and `nbgrader generate_feedback` show them.

nbgrader keeps points in its gradebook and what there is to see in a notebook per student. `headway grade` runs no
notebook: this writes the one that nbgrader would have, with the student's cells as they are, and after each function
its graded cell with our report as the output. The student's own outputs are left out. Cell metadata are not the
student's, who may have broken them: a cell counts as the answer to a function that it defines.
"""

import ast
import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.notebooks import cells as making
from autograder.notebooks.cell_statements import Cell, Statement, read_statements
from autograder.notebooks.read_ipynb import NotebookCell, notebook_cells
from autograder.notebooks.student_notebooks import HIDDEN
from autograder.report.notebook import NotebookReport

Document = dict[str, Any]
# The graded cells that students get: ours take their places.
_GRADED = re.compile(r'\s*from autograder\.notebook import grade\s+grade\("[\w.]+", points=[\d.]+\)\s*')


@dataclass
class InstructorNotebook:
    """The instructor's notebook of an assignment; empty if it cannot be read.

    Attributes:
        graded: its graded cells, by grade id, which is the function's name, without what is hidden in them.
        answers: the grade id of the cell in which a function is to be written, by the function's name.
    """

    path: Path
    graded: dict[str, making.Node] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            for cell in json.loads(self.path.read_bytes())["cells"]:
                text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
                self._take(cell, cell["metadata"].get("nbgrader", {}), text)

    def _take(self, cell: making.Node, about: dict[str, Any], text: str) -> None:
        if about.get("grade") and not about.get("solution"):
            self.graded[about["grade_id"]] = making.code(_without_hidden(text), **about)
        elif about.get("solution") and cell["cell_type"] == "code":
            self.answers.update(dict.fromkeys(_defined(text), about["grade_id"]))

    @property
    def solution_ids(self) -> list[str]:
        """The grade ids of the cells that students write."""
        return list(dict.fromkeys(self.answers.values()))


def graded_notebook(submitted: bytes, source: InstructorNotebook, document: Document, assignment: Document) -> str:
    """One student's notebook with our report in it.

    Args:
        submitted: what was handed in.
        source: the instructor's notebook.
        assignment: the assignment's entry in the document.

    Raises:
        SkippedFile: if what was handed in is no notebook that can be read.
    """
    functions = _functions(source, assignment)
    shown = [cell for cell in notebook_cells(submitted) if not (cell.kind == "code" and _GRADED.fullmatch(cell.source))]
    after = _where_each_is(shown, set(functions))
    made: list[making.Node] = []
    left, waiting = dict(functions), dict(source.answers)
    for i, cell in enumerate(shown):
        ids = [waiting[name] for name in after.get(i, ()) if name in waiting]
        about = {"solution": True, "grade_id": ids[0]} if ids else {}
        waiting = {name: answer for name, answer in waiting.items() if answer not in ids[:1]}  # an id is there once
        made.append(making.markdown(cell.source) if cell.kind == "markdown" else making.code(cell.source, **about))
        for name in after.get(i, ()):
            made.append(_with_report(source.graded[name], left.pop(name), document, assignment))
    made += [_with_report(source.graded[name], function, document, assignment) for name, function in left.items()]
    return making.quickly(assignment["name"], made)


def ungraded_notebook(why: str, source: InstructorNotebook, document: Document, assignment: Document) -> str:
    """The notebook for work that could not be read: the reason, and what is graded."""
    functions = _functions(source, assignment)
    cells = [_with_report(source.graded[name], function, document, assignment) for name, function in functions.items()]
    return making.quickly(assignment["name"], [making.markdown(why), *cells])


def _functions(source: InstructorNotebook, assignment: Document) -> dict[str, Document]:
    return {one["name"]: one for one in assignment["functions"] if one["name"] in source.graded}


def _where_each_is(shown: list[NotebookCell], functions: set[str]) -> dict[int, list[str]]:
    """The functions by the number of the cell that defines them last."""
    last: dict[str, int] = {}
    for i, cell in enumerate(shown):
        for statement in read_statements([Cell("", cell.source)]) if cell.kind == "code" else ():
            is_import = isinstance(statement, Statement) and isinstance(statement.node, (ast.Import, ast.ImportFrom))
            last.update(dict.fromkeys(set() if is_import else statement.makes & functions, i))
    found: dict[int, list[str]] = {}
    for name, i in sorted(last.items()):
        found.setdefault(i, []).append(name)
    return found


def _with_report(cell: making.Node, function: Document, document: Document, assignment: Document) -> making.Node:
    alone = {**assignment, "functions": [function]}
    report = NotebookReport(
        {**document, "assignments": [alone], "points": function["points"], "internal_errors": []},
        {f"{assignment['name']}.{one['name']}": one["status"] for one in assignment["functions"]},
        {},
    )
    made = making.code(cell["source"], **cell["metadata"]["nbgrader"])
    made["outputs"] = [making.shown(report._repr_mimebundle_())]
    return made


def _defined(text: str) -> Iterator[str]:
    for statement in read_statements([Cell("", text)]):
        if isinstance(statement, Statement) and isinstance(statement.node, ast.FunctionDef):
            yield statement.node.name


def _without_hidden(text: str) -> str:
    head, begin, rest = text.partition(HIDDEN[0] + "\n")
    return head + rest.partition(HIDDEN[1] + "\n")[2] if begin else text

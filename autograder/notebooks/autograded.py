"""nbgrader's `autograded/` folder from our results, so that formgrader and `nbgrader generate_feedback` show them.

nbgrader keeps points in its gradebook and what there is to see in a notebook per student. `headway grade` runs no
notebook: this writes the one that nbgrader would have, with the student's cells as they are, and after each function
its graded cell with our report as the output. The student's own outputs are left out, and so is cell metadata, on which
nothing that is shown depends.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

from autograder.archive import LeftOut
from autograder.errors import UsageError
from autograder.files import write_atomically
from autograder.notebooks import cells as making
from autograder.notebooks.intake import Shown, shown_cells
from autograder.notebooks.statements import Cell, Statement, read
from autograder.report.notebook import Report

Document = dict[str, Any]


def write(course: Path, results: Iterable[tuple[str, Document]]) -> int:
    """Write `autograded/STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb` for every result that has a submitted notebook.

    Args:
        course: the folder of an nbgrader course.
        results: the students' nbgrader ids with their result documents.

    Returns:
        How many notebooks were written.

    Raises:
        UsageError: if `course` is no such folder.
    """
    if not (course / "source").is_dir():
        raise UsageError(f"{course} holds no folder source. Make a course: headway release {course} --format nbgrader")
    written = 0
    for student, document in results:
        for assignment in document["assignments"]:
            path = Path(student, assignment["name"], f"{assignment['name']}.ipynb")
            submitted = course / "submitted" / path
            source = course / "source" / assignment["name"] / path.name
            if Path(student).name != student or not submitted.is_file() or submitted.is_symlink():
                continue
            graded = _graded_cells(source)
            if graded:
                try:
                    text = notebook(submitted.read_bytes(), graded, document, assignment)
                except (LeftOut, OSError):  # nothing of it was graded: the gradebook says why
                    continue
                write_atomically(course / "autograded" / path, text.encode("utf-8", "replace"))
                written += 1
    return written


def notebook(submitted: bytes, graded: dict[str, making.Node], document: Document, assignment: Document) -> str:
    """One student's notebook with our report in it.

    Args:
        submitted: what was handed in.
        graded: the assignment's graded cells, by grade id, which is the function's name.
        assignment: the assignment's entry in the document.
    """
    functions = {function["name"]: function for function in assignment["functions"] if function["name"] in graded}
    shown = [cell for cell in shown_cells(submitted) if "grade(" not in cell.source or cell.kind != "code"]
    after = _where_each_is(shown, set(functions))
    made: list[making.Node] = []
    left = dict(functions)
    for i, cell in enumerate(shown):
        made.append(making.markdown(cell.source) if cell.kind == "markdown" else making.code(cell.source))
        for name in after.get(i, ()):
            made.append(_with_report(graded[name], left.pop(name), document, assignment))
    made += [_with_report(graded[name], function, document, assignment) for name, function in left.items()]
    return making.notebook(assignment["name"], made)


def _where_each_is(shown: list[Shown], functions: set[str]) -> dict[int, list[str]]:
    """The functions by the number of the cell that defines them last."""
    last: dict[str, int] = {}
    for i, cell in enumerate(shown):
        for statement in read([Cell("", cell.source)]) if cell.kind == "code" else ():
            is_import = isinstance(statement, Statement) and isinstance(statement.node, (ast.Import, ast.ImportFrom))
            last.update(dict.fromkeys(set() if is_import else statement.makes & functions, i))
    found: dict[int, list[str]] = {}
    for name, i in sorted(last.items()):
        found.setdefault(i, []).append(name)
    return found


def _with_report(cell: making.Node, function: Document, document: Document, assignment: Document) -> making.Node:
    qualified = f"{assignment['name']}.{function['name']}"
    alone = {**assignment, "functions": [function]}
    report = Report(
        {**document, "assignments": [alone], "points": function["points"], "problems": []},
        {qualified: function["status"]},
        {},
    )
    made = making.code(cell["source"], **cell["metadata"]["nbgrader"])
    bundle = nbformat.v4.new_output("display_data", {"text/html": report._repr_html_(), "text/plain": str(report)})
    made["outputs"] = [bundle]
    return made


def _graded_cells(source: Path) -> dict[str, making.Node]:
    """The graded cells of the instructor's notebook, without what is hidden in them; none if it cannot be read."""
    try:
        cells = nbformat.read(source, as_version=4).cells
    except (OSError, ValueError, nbformat.reader.NotJSONError):
        return {}
    graded = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")]
    for cell in graded:
        cell["source"] = _without_hidden(cell["source"])
    return {cell.metadata["nbgrader"]["grade_id"]: cell for cell in graded}


def _without_hidden(text: str) -> str:
    from autograder.notebooks.build import HIDDEN

    head, begin, rest = text.partition(HIDDEN[0] + "\n")
    return head + rest.partition(HIDDEN[1] + "\n")[2] if begin else text

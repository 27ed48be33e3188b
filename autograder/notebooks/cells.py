"""Cells of generated notebooks: read from a cell-marked source, numbered so that generating again changes nothing."""

from typing import Any

import jupytext
import nbformat

from autograder.source import NOTEBOOK_ONLY

Node = dict[str, Any]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read_cells(source: str) -> list[tuple[str, str]]:
    """Kind and text of each cell of a module, without its docstring, which only repeats a title.

    Kinds: "markdown"; "code"; and "play" for pictures and experiments, code that is only for notebooks.
    """
    cells = jupytext.reads(source, fmt="py:percent").cells
    return [(_kind(cell), cell.source) for i, cell in enumerate(cells) if i or not cell.source.startswith('"""')]


def _kind(cell: Any) -> str:
    tagged = cell.cell_type == "code" and NOTEBOOK_ONLY in cell.metadata.get("tags", ())
    return "play" if tagged else str(cell.cell_type)


def markdown(text: str) -> Node:
    """A cell of text."""
    cell: Node = nbformat.v4.new_markdown_cell(text)
    return cell


def code(text: str, **nbgrader: Any) -> Node:
    """A code cell; keyword arguments are nbgrader's metadata, version 3."""
    cell: Node = nbformat.v4.new_code_cell(text)
    if nbgrader:
        kinds = {"grade": False, "locked": False, "solution": False, "task": False}
        cell["metadata"]["nbgrader"] = {"schema_version": 3, **kinds, **nbgrader}
    return cell


def notebook(name: str, cells: list[Node]) -> str:
    """The text of a notebook file.

    Args:
        name: cells are numbered under it, so that generating again changes nothing.
    """
    for number, cell in enumerate(cells):
        cell["id"] = f"{name.replace('_', '-')}-{number:02}"
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})
    nbformat.validate(made)
    return str(nbformat.writes(made, version=4)) + "\n"

"""Cells of generated notebooks: read from a cell-marked source, numbered so that generating again changes nothing."""

import json
from typing import Any

from autograder.curriculum.stubs import FOLDED, NOTEBOOK_ONLY, experiment

Node = dict[str, Any]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read_cells(source: str) -> list[tuple[str, str]]:
    """Kind and text of each cell of a module, without its docstring, which only repeats a title.

    Kinds: "markdown"; "code"; and "play" for pictures and experiments, code that is only for notebooks.
    """
    import jupytext

    cells = jupytext.reads(source, fmt="py:percent").cells
    return [_read(cell) for i, cell in enumerate(cells) if i or not cell.source.startswith('"""')]


def _read(cell: Any) -> tuple[str, str]:
    if cell.cell_type != "code":
        return "markdown", _folded(cell.source)
    tried = experiment(cell.source)
    if tried is not None:
        return "play", tried
    return "play" if NOTEBOOK_ONLY in cell.metadata.get("tags", ()) else "code", cell.source


def _folded(text: str) -> str:
    """What should not be seen before one has guessed, folded: a click on its heading opens it."""
    heading, _, rest = text.partition("\n")
    if heading not in FOLDED:
        return text
    return f"<details>\n<summary><b>{heading.lstrip('# ')}</b></summary>\n\n{rest.strip()}\n\n</details>"


# Not made by nbformat's own functions: they validate every cell by itself, in ten times the time of the whole notebook.
def markdown(text: str) -> Node:
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code(text: str, **nbgrader: Any) -> Node:
    """A code cell; keyword arguments are nbgrader's metadata, version 3."""
    cell: Node = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}
    if nbgrader:
        kinds = {"grade": False, "locked": False, "solution": False, "task": False}
        cell["metadata"]["nbgrader"] = {"schema_version": 3, **kinds, **nbgrader}
    return cell


def shown(data: dict[str, str]) -> Node:
    """An output of a code cell: a text in several forms, by MIME type."""
    return {"output_type": "display_data", "data": data, "metadata": {}}


def notebook(name: str, cells: list[Node]) -> str:
    """The text of a notebook file, validated.

    Args:
        name: cells are numbered under it, so that generating again changes nothing.
    """
    import nbformat

    made = nbformat.from_dict(_document(name, cells))
    nbformat.validate(made)
    return str(nbformat.v4.writes(made)) + "\n"


def quickly(name: str, cells: list[Node]) -> str:
    """The same for hundreds of notebooks: not validated, and without importing the packages that could do it."""
    return json.dumps(_document(name, cells), ensure_ascii=False, indent=1) + "\n"


def _document(name: str, cells: list[Node]) -> Node:
    for number, cell in enumerate(cells):
        cell["id"] = f"{name.replace('_', '-')}-{number:02}"
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}

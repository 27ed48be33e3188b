"""Cells of generated notebooks, read from modules with cell markers. The same source gives the same notebook."""

import base64
import html
import importlib
import json
import re
from typing import Any

from autograder.course.stubs import FOLDED, NOTEBOOK_ONLY, PICTURE, experiment
from autograder.errors import HeadwayError, missing_package

NotebookNode = dict[str, Any]


def read_cells(source: str) -> list[tuple[str, str]]:
    """Return the kind and text of each cell of a module, without the docstring, which only repeats the title.

    The kinds are "markdown", "code", and "play": code that exists only in notebooks, for plots and experiments.
    """
    _import("nbformat")  # jupytext imports it, but later
    cells = _import("jupytext").reads(source, fmt="py:percent").cells
    return [_read_cell(cell) for i, cell in enumerate(cells) if i or not cell.source.startswith('"""')]


def _import(package: str) -> Any:
    """Return a package; raise UsageError if it is not installed."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise missing_package(f"notebooks need {error.name}", "notebooks") from None


def _read_cell(cell: Any) -> tuple[str, str]:
    if cell.cell_type != "code":
        return "markdown", _folded(cell.source)
    if (code := experiment(cell.source)) is not None:
        return "play", code
    return "play" if NOTEBOOK_ONLY in cell.metadata.get("tags", ()) else "code", cell.source


def _folded(text: str) -> str:
    """Return text that students should see only after guessing as a block that opens with a click."""
    heading, _, rest = text.partition("\n")
    if not heading.startswith(FOLDED):
        return text
    return f"<details>\n<summary><b>{heading.lstrip('# ')}</b></summary>\n\n{rest.strip()}\n\n</details>"


# nbformat's own functions validate every cell separately, which takes ten times as long as validating the notebook.
def markdown(text: str) -> NotebookNode:
    """Return a Markdown cell."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def lesson(text: str, figures: dict[str, str]) -> list[NotebookNode]:
    """Return the Markdown cells of a lesson cell: its text, and each picture as a cell of its own.

    The pictures are part of the notebook, as data URLs in HTML: JupyterLab shows no SVG that is attached to a cell, and
    VS Code shows none in a Markdown image. In a folded block they stay inside it.
    """

    def embed(match: re.Match[str]) -> str:
        if (svg := figures.get(match[2])) is None:
            raise HeadwayError(f"a lesson shows {match[2]}, which does not exist. Draw it: make figures")
        data = base64.b64encode(svg.encode()).decode()
        alt = html.escape(" ".join(match[1].split()))
        return f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">'

    if text.startswith("<details>"):
        return [markdown(PICTURE.sub(embed, text))]
    parts, end = [], 0
    for match in PICTURE.finditer(text):
        parts += [text[end : match.start()].strip(), embed(match)]
        end = match.end()
    return [markdown(part) for part in (*parts, text[end:].strip()) if part]


def code(text: str, **nbgrader: Any) -> NotebookNode:
    """Return a code cell. Keyword arguments are nbgrader's metadata, version 3."""
    cell: NotebookNode = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}
    if nbgrader:
        kinds = {"grade": False, "locked": False, "solution": False, "task": False}
        cell["metadata"]["nbgrader"] = {"schema_version": 3, **kinds, **nbgrader}
    return cell


def notebook_text(name: str, cells: list[NotebookNode]) -> str:
    """Return the text of a notebook file, after validating it; `name` is the prefix of the cells' numbered ids."""
    nbformat = _import("nbformat")
    notebook = nbformat.from_dict(_document(name, cells))
    nbformat.validate(notebook)
    return str(nbformat.v4.writes(notebook)) + "\n"


def unvalidated_notebook_text(name: str, cells: list[NotebookNode]) -> str:
    """Return the text of a notebook file without validating it, for hundreds of notebooks."""
    return json.dumps(_document(name, cells), ensure_ascii=False, indent=1) + "\n"


def _document(name: str, cells: list[NotebookNode]) -> NotebookNode:
    for number, cell in enumerate(cells):
        cell["id"] = f"{name.replace('_', '-')}-{number:02}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}

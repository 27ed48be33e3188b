"""Notebooks as they are handed in: the code cells of an .ipynb file that somebody else made, and the modules in them.

The file is read as plain JSON, of format 3 or 4 and with no regard for its metadata, which editors and students break.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from autograder.core.zip_archive import SkippedFile
from autograder.curriculum import Curriculum
from autograder.notebooks import extract
from autograder.notebooks.cell_statements import Cell

MAX_NOTEBOOK_BYTES = 16 << 20  # pictures are part of the file
MAX_CELLS = 2000
MAX_TEXT_BYTES = 1 << 20
# Of code, and of statements in it: what a notebook's functions need is searched for in a time that grows with their
# square. The whole course is 100 KiB and some 300 statements.
MAX_CODE_BYTES = 256 << 10
MAX_STATEMENTS = 4000


def read_modules(content: bytes, curriculum: Curriculum, name: str = "") -> dict[str, bytes]:
    """The Python modules in a notebook, by file name; see `autograder.notebooks.extract` for what is in them.

    Args:
        content: the file.
        name: its name, which may tell which assignment it is for.

    Raises:
        SkippedFile: if it is no notebook that can be read, or none of the course's functions is in it.
    """
    cells = _cells(content)
    if sum(len(cell.source) for cell in cells) > MAX_CODE_BYTES:
        raise SkippedFile(f"it holds more than {MAX_CODE_BYTES >> 10} KiB of code")
    try:
        found = extract.extract_modules(cells, curriculum, name, max_statements=MAX_STATEMENTS)
    except extract.TooManyStatements:
        raise SkippedFile(f"it has more than {MAX_STATEMENTS} statements") from None
    if not found:
        raise SkippedFile("none of the course's functions is in it")
    return {f"{module}.py": text.encode("utf-8", "replace") for module, text in found.items()}


def _document(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_NOTEBOOK_BYTES:
        raise SkippedFile(f"it is larger than {MAX_NOTEBOOK_BYTES >> 20} MiB")
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise SkippedFile("it is not a notebook: it is no JSON that can be read") from None
    if not isinstance(document, dict):
        raise SkippedFile("it is not a notebook")
    return document


@dataclass(frozen=True)
class NotebookCell:
    """A cell as a reader sees it."""

    number: int
    kind: Literal["code", "markdown"]
    source: str


def notebook_cells(content: bytes) -> list[NotebookCell]:
    """The code and text cells of a notebook, in order and without outputs.

    Raises:
        SkippedFile: if it is no notebook that can be read.
    """
    cells: list[NotebookCell] = []
    size = 0
    for number, raw in enumerate(_raw_cells(_document(content)), 1):
        if number > MAX_CELLS:
            raise SkippedFile(f"it has more than {MAX_CELLS} cells")
        kind = raw.get("cell_type") if isinstance(raw, dict) else None
        if kind in ("code", "markdown"):
            source = _joined(raw.get("source", raw.get("input")))  # "input" in format 3
            size += len(source)
            if size > MAX_TEXT_BYTES:
                raise SkippedFile(f"it holds more than {MAX_TEXT_BYTES >> 20} MiB of code and text")
            cells.append(NotebookCell(number, kind, source))
    return cells


def _cells(content: bytes) -> list[Cell]:
    """The code cells, named by their place among all cells, which is what notebook editors show."""
    return [Cell(f"cell {cell.number}", cell.source) for cell in notebook_cells(content) if cell.kind == "code"]


def _raw_cells(document: dict[str, Any]) -> Iterator[Any]:
    found = False
    for holder in (document, *_list(document.get("worksheets"))):  # worksheets: format 3
        if isinstance(holder, dict) and isinstance(holder.get("cells"), list):
            found = True
            yield from holder["cells"]
    if not found:
        raise SkippedFile("it is not a notebook: it has no cells")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _joined(source: Any) -> str:
    if isinstance(source, str):
        return source
    return "".join(part for part in _list(source) if isinstance(part, str))

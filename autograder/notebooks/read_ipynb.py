"""Read submitted notebooks: the cells of an .ipynb file, and the modules in them.

The file is read as plain JSON, format 3 or 4. Its metadata is ignored, because editors and students damage it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from autograder.core.zip_archive import SkippedFile
from autograder.curriculum import Curriculum
from autograder.notebooks import extract
from autograder.notebooks.cell_statements import Cell

MAX_NOTEBOOK_BYTES = 16 << 20  # plots are part of the file
MAX_CELLS = 2000
MAX_TEXT_BYTES = 1 << 20
# Finding what a notebook's functions need takes time that grows with the square of its code. The whole course has
# 100 KiB and about 300 statements.
MAX_CODE_BYTES = 256 << 10
MAX_STATEMENTS = 4000


def read_modules(content: bytes, curriculum: Curriculum, name: str = "") -> dict[str, bytes]:
    """Return the modules in a notebook by file name; raise SkippedFile if it is unreadable or defines no function."""
    # Named by their number among all cells, as notebook editors show it.
    cells = [Cell(f"cell {cell.number}", cell.source) for cell in submitted_cells(content) if cell.kind == "code"]
    if sum(len(cell.source) for cell in cells) > MAX_CODE_BYTES:
        raise SkippedFile(f"it holds more than {MAX_CODE_BYTES >> 10} KiB of code")
    texts = extract.extract_modules(cells, curriculum, name, max_statements=MAX_STATEMENTS)
    if not texts:
        raise SkippedFile("it defines no function of the course")
    return {f"{module}.py": text.encode("utf-8", "replace") for module, text in texts.items()}


@dataclass(frozen=True)
class NotebookCell:
    """A cell of a notebook; `number` counts all cells from 1."""

    number: int
    kind: Literal["code", "markdown"]
    source: str


def submitted_cells(content: bytes) -> list[NotebookCell]:
    """Return the code and Markdown cells, in order, without outputs; raise SkippedFile if unreadable or too large."""
    cells: list[NotebookCell] = []
    size = 0
    for number, raw in enumerate(_raw_cells(content), 1):
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


def _raw_cells(content: bytes) -> Iterator[Any]:
    if len(content) > MAX_NOTEBOOK_BYTES:
        raise SkippedFile(f"it is larger than {MAX_NOTEBOOK_BYTES >> 20} MiB")
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise SkippedFile("it is not a notebook: it is not valid JSON") from None
    if not isinstance(document, dict):
        raise SkippedFile("it is not a notebook")
    holders = [holder for holder in (document, *_list(document.get("worksheets"))) if isinstance(holder, dict)]
    lists = [holder["cells"] for holder in holders if isinstance(holder.get("cells"), list)]  # worksheets: format 3
    if not lists:
        raise SkippedFile("it is not a notebook: it has no cells")
    return chain.from_iterable(lists)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _joined(source: Any) -> str:
    if isinstance(source, str):
        return source
    return "".join(part for part in _list(source) if isinstance(part, str))

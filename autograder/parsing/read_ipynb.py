"""Read submitted notebooks: the cells of an .ipynb file, and the modules in them.

The file is read as plain JSON, format 3 or 4. Its metadata is ignored, because editors and students damage it.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from . import Unreadable
from .cell_statements import Cell, read_statements
from .extract import FunctionNames, extract_modules

MAX_NOTEBOOK_BYTES = 48 << 20  # pictures and other outputs are part of the file, and are dropped
MAX_CELLS = 2000
MAX_TEXT_BYTES = 1 << 20
# The whole course has 100 KiB of code and about 300 statements.
MAX_CODE_BYTES = 256 << 10
MAX_STATEMENTS = 4000


def read_modules(content: bytes, course: FunctionNames, name: str = "") -> dict[str, bytes]:
    """Return the modules in a notebook by file name, {} without a function of the course; raise Unreadable."""
    # Named by their number among all cells, as notebook editors show it.
    cells = [Cell(f"cell {cell.number}", cell.source) for cell in submitted_cells(content) if cell.kind == "code"]
    if sum(len(cell.source) for cell in cells) > MAX_CODE_BYTES:
        raise Unreadable(f"it holds more than {MAX_CODE_BYTES >> 10} KiB of code")
    texts = extract_modules(cells, course, name, max_statements=MAX_STATEMENTS)
    return {f"{module}.py": text.encode("utf-8", "replace") for module, text in texts.items()}


def defining_cells(content: bytes, functions: Collection[str]) -> list[dict[str, Any]]:
    """Return the code and Markdown cells, each with those of the functions that it defines, without imports."""
    cells = submitted_cells(content)
    defined: list[set[str]] = [set() for _ in cells]
    code = [Cell(str(i), cell.source) for i, cell in enumerate(cells) if cell.kind == "code"]
    for statement in read_statements(code, MAX_STATEMENTS):
        if not statement.is_import:
            defined[int(statement.cell)] |= statement.binds.intersection(functions)
    return [
        {"kind": cell.kind, "source": cell.source.encode("utf-8", "replace"), "defines": sorted(names)}
        for cell, names in zip(cells, defined, strict=True)
    ]


@dataclass(frozen=True)
class NotebookCell:
    """A cell of a notebook; `number` counts all cells from 1."""

    number: int
    kind: Literal["code", "markdown"]
    source: str


def submitted_cells(content: bytes) -> list[NotebookCell]:
    """Return the code and Markdown cells, in order, without outputs; raise Unreadable if unreadable or too large."""
    cells: list[NotebookCell] = []
    size = 0
    for number, raw in enumerate(_raw_cells(content), 1):
        if number > MAX_CELLS:
            raise Unreadable(f"it has more than {MAX_CELLS} cells")
        kind = raw.get("cell_type") if isinstance(raw, dict) else None
        if kind in ("code", "markdown"):
            source = _joined(raw.get("source", raw.get("input")))  # "input" in format 3
            size += len(source)
            if size > MAX_TEXT_BYTES:
                raise Unreadable(f"it holds more than {MAX_TEXT_BYTES >> 20} MiB of code and text")
            cells.append(NotebookCell(number, kind, source))
    return cells


def _raw_cells(content: bytes) -> Iterator[Any]:
    if len(content) > MAX_NOTEBOOK_BYTES:
        raise Unreadable(f"it is larger than {MAX_NOTEBOOK_BYTES >> 20} MiB")
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Unreadable("it is not a notebook: it is not valid JSON") from None
    if not isinstance(document, dict):
        raise Unreadable("it is not a notebook")
    holders = [holder for holder in (document, *_list(document.get("worksheets"))) if isinstance(holder, dict)]
    lists = [holder["cells"] for holder in holders if isinstance(holder.get("cells"), list)]  # worksheets: format 3
    if not lists:
        raise Unreadable("it is not a notebook: it has no cells")
    return chain.from_iterable(lists)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _joined(source: Any) -> str:
    if isinstance(source, str):
        return source
    return "".join(part for part in _list(source) if isinstance(part, str))

"""Translate lines of a module that was extracted from a notebook to lines of the notebook's cells."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.documents.results import SubmissionResult
from autograder.parsing.extract import HEADER, cell_parts, find_cell_line

if TYPE_CHECKING:
    from autograder.documents.types import LocationRecord

# A location in a text, such as `softmax.py, line 3`.
_LINE = re.compile(r"\b(\w+)\.py(:|, line )(\d+)")


def locate_in_cells(result: SubmissionResult, texts: Mapping[str, str], *, name_notebooks: bool = False) -> None:
    """Replace lines of modules, whose `texts` are from notebooks, in a result by lines of cells, in place.

    Where the modules are from several notebooks, `name_notebooks`: a cell is then called `softmax.ipynb cell 5`.
    """

    def location_in_cell(where: "LocationRecord") -> "LocationRecord | None":
        module = where["file"].removesuffix(".py")
        if module not in texts:
            return where
        if (place := find_cell_line(texts[module], where["line"])) is None:
            return None
        cell = f"{module}.ipynb {place[0]}" if name_notebooks else place[0]
        return {"file": cell, "line": place[1], "text": "" if "raise CellError" in where["text"] else where["text"]}

    def replace(match: re.Match[str]) -> str:
        if match[1] not in texts:
            return match[0]
        where = location_in_cell({"file": f"{match[1]}.py", "line": int(match[3]), "text": ""})
        return f"{where['file']}, line {where['line']}" if where else "the notebook"

    for check in result.checks if texts else []:
        check.location = check.location and location_in_cell(check.location)
        check.called_from = check.called_from and location_in_cell(check.called_from)
        check.message = _LINE.sub(replace, check.message)
        check.warnings = [_LINE.sub(replace, text) for text in check.warnings]


def modules_from_notebooks(folder: Path) -> dict[str, str]:
    """Return the modules in a submission's folder that were extracted from a notebook."""
    texts = {path.stem: path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("*.py"))}
    return {module: text for module, text in texts.items() if text.startswith(HEADER)}


def notebook_parts(text: str) -> list[tuple[str, int, str]]:
    """Return the cells that a module was extracted from: name, first line and text; nothing for any other module."""
    return cell_parts(text) if text.startswith(HEADER) else []

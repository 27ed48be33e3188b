"""Translate lines of a module that was extracted from a notebook to lines of the notebook's cells."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.documents.results import SubmissionResult
from autograder.parsing.extract import HEADER, cell_parts, find_cell_line

if TYPE_CHECKING:
    from autograder.documents.types import LocationRecord

_LINE = re.compile(r"\b(\w+)\.py(:|, line )(\d+)")


def locate_in_cells(result: SubmissionResult, texts: Mapping[str, str], *, name_notebooks: bool = False) -> None:
    """Replace lines of modules in a result by lines of cells, in place.

    Args:
        texts: the modules from notebooks.
        name_notebooks: whether a cell is called `softmax.ipynb cell 5`, where the modules are from several notebooks.
    """
    cells = _Cells(texts, name_notebooks)
    for check in result.checks if texts else []:
        check.location = check.location and cells.location(check.location)
        check.called_from = check.called_from and cells.location(check.called_from)
        check.message = cells.text(check.message)
        check.warnings = [cells.text(text) for text in check.warnings]


def modules_from_notebooks(folder: Path) -> dict[str, str]:
    """Return the modules in a submission's folder that were extracted from a notebook."""
    texts = {path.stem: path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("*.py"))}
    return {module: text for module, text in texts.items() if text.startswith(HEADER)}


def notebook_parts(text: str) -> list[tuple[str, int, str]]:
    """Return the cells that a module was extracted from: name, first line and text; nothing for any other module."""
    return cell_parts(text) if text.startswith(HEADER) else []


@dataclass(frozen=True)
class _Cells:
    texts: Mapping[str, str]
    name_notebooks: bool

    def location(self, where: "LocationRecord") -> "LocationRecord | None":
        """Return a location in a module as a location in the notebook; None for a line that is in no cell."""
        module = where["file"].removesuffix(".py")
        if module not in self.texts:
            return where
        if (place := find_cell_line(self.texts[module], where["line"])) is None:
            return None
        text = where["text"]
        cell = f"{module}.ipynb {place[0]}" if self.name_notebooks else place[0]
        return {"file": cell, "line": place[1], "text": "" if "raise CellError" in text else text}

    def text(self, text: str) -> str:
        """Return a text in which every location such as `softmax.py, line 3` is one in the notebook."""

        def replace(match: re.Match[str]) -> str:
            if match[1] not in self.texts:
                return match[0]
            where = self.location({"file": f"{match[1]}.py", "line": int(match[3]), "text": ""})
            return f"{where['file']}, line {where['line']}" if where else "the notebook"

        return _LINE.sub(replace, text)

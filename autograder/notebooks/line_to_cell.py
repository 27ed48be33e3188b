"""Translate lines of a module that was extracted from a notebook to lines of the notebook's cells."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.parsing.extract import HEADER, cell_parts, find_cell_line
from autograder.results import SubmissionResult

_LINE = re.compile(r"\b(\w+)\.py(:|, line )(\d+)")


def locate_in_cells(result: SubmissionResult, texts: Mapping[str, str]) -> None:
    """Replace lines of modules in a result by lines of cells, in place; `texts` are the modules from a notebook."""
    for check in result.checks if texts else []:
        check.location = check.location and _in_cell(check.location, texts)
        check.message = _text_in_cells(check.message, texts)
        check.warnings = [_text_in_cells(text, texts) for text in check.warnings]


def modules_from_notebooks(folder: Path) -> dict[str, str]:
    """Return the modules in a submission's folder that were extracted from a notebook."""
    texts = {path.stem: path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("*.py"))}
    return {module: text for module, text in texts.items() if text.startswith(HEADER)}


def notebook_parts(text: str) -> list[tuple[str, int, str]]:
    """Return the cells that a module was extracted from: name, first line and text; nothing for any other module."""
    return cell_parts(text) if text.startswith(HEADER) else []


def _in_cell(where: dict[str, Any], texts: Mapping[str, str]) -> dict[str, Any] | None:
    """Return a location in a module as a location in the notebook; None for a line that is in no cell."""
    module = where["file"].removesuffix(".py")
    if module not in texts:
        return where
    if (place := find_cell_line(texts[module], where["line"])) is None:
        return None
    text = where.get("text", "")
    found = {"file": place[0], "line": place[1], "text": "" if "raise CellError" in text else text}
    if caller := _in_cell(where["called_from"], texts) if "called_from" in where else None:
        found["called_from"] = caller
    return found


def _text_in_cells(text: str, texts: Mapping[str, str]) -> str:
    """Return a text in which every location such as `softmax.py, line 3` is one in the notebook."""

    def replace(match: re.Match[str]) -> str:
        where = _in_cell({"file": f"{match[1]}.py", "line": int(match[3])}, texts)
        return f"{where['file']}{match[2]}{where['line']}" if where else "the notebook"

    return _LINE.sub(replace, text)

"""From lines of a module that was taken from a notebook back to the cells that the student knows."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.notebooks.extract import HEADER, find_cell_line
from autograder.results import SubmissionResult

_LINE = re.compile(r"\b(\w+)\.py(:|, line )(\d+)")


def locate_in_cells(result: SubmissionResult, texts: Mapping[str, str]) -> None:
    """Let a result name cells instead of lines of modules.

    Args:
        result: changed in place.
        texts: the modules that come from a notebook, by name.
    """
    for check in result.checks if texts else []:
        if check.location is not None:
            check.location = _in_cell(check.location, texts)
        check.message = _in_cells(check.message, texts)
        check.warnings = [_in_cells(text, texts) for text in check.warnings]


def modules_from_notebooks(folder: Path) -> dict[str, str]:
    """The modules in a submission's folder that were taken from a notebook."""
    texts = {path.stem: path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob("*.py"))}
    return {module: text for module, text in texts.items() if text.startswith(HEADER)}


def _in_cell(where: dict[str, Any], texts: Mapping[str, str]) -> dict[str, Any] | None:
    """A place in a module as a place in the notebook; None for a line that no cell holds."""
    module = where["file"].removesuffix(".py")
    if module not in texts:
        return where
    found = find_cell_line(texts[module], where["line"])
    if found is None:
        return None
    text = where.get("text", "")
    return {"file": found.cell, "line": found.line, "text": "" if "raise CellError" in text else text}


def _in_cells(text: str, texts: Mapping[str, str]) -> str:
    """A sentence with every `softmax.py, line 3` of it as a place in the notebook."""

    def placed(match: re.Match[str]) -> str:
        where = _in_cell({"file": f"{match[1]}.py", "line": int(match[3])}, texts)
        return f"{where['file']}{match[2]}{where['line']}" if where else "the notebook"

    return _LINE.sub(placed, text)

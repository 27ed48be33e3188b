"""Store the code of each submission next to its result, for people to read: `headway show` and the class page.

    OUT/code/NAME.json    the modules as they were graded (schema `headway.code/1`); NAME is that of the result document

The code is data: the grader decodes it, splits it into lines and shows them as text. It never parses them.
"""

import json
import re
from pathlib import Path

from autograder.core.text import counted
from autograder.documents.reading import CODE_SCHEMA, Document, read_document
from autograder.documents.types import CodeDocument, CodePart
from autograder.engine.cell_locations import notebook_parts

FOLDER = "code"
MAX_MODULE_CHARACTERS = 128 << 10
MAX_CHARACTERS = 512 << 10  # of a submission


def code_document(folder: Path) -> bytes:
    """Return the document of the modules in `folder`, as `intake.copy_modules` wrote them."""
    modules: dict[str, list[CodePart]] = {}
    left_out: list[str] = []
    remaining = MAX_CHARACTERS
    for path in sorted(folder.glob("*.py")):
        # Python ends a line in three ways; a byte order mark is no part of the first line.
        text = re.sub(r"\r\n?", "\n", path.read_bytes().decode("utf-8-sig", "replace"))
        parts = notebook_parts(text) or [(path.name, 1, text.rstrip("\n"))]
        stored: list[CodePart] = []
        limit = min(MAX_MODULE_CHARACTERS, remaining)
        for file, line, content in parts:
            kept = content if len(content) <= limit else content[:limit].rpartition("\n")[0]
            limit -= len(kept)
            remaining -= len(kept)
            if kept:
                stored.append({"file": file, "line": line, "text": kept})
            if kept != content:
                lines = counted(content.count("\n") - kept.count("\n"), "line")
                left_out.append(f"{path.name}: {lines} of {file} not stored, because the file is too long")
                break
        modules[path.stem] = stored
    document: CodeDocument = {"schema": CODE_SCHEMA, "modules": modules, "left_out": left_out}
    return (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def read_code(out: Path, file: str) -> Document | None:
    """Return the code document of a result document, or None if there is no readable one."""
    try:
        return read_document(out / FOLDER / Path(file).name, CODE_SCHEMA)
    except (OSError, ValueError):
        return None

"""`headway submit`: one archive to hand in, with a list of what is in it. `headway grade` takes it as it is."""

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.core.files import write_atomically
from autograder.curriculum import Curriculum
from autograder.errors import UsageError
from autograder.results import SubmissionResult, function_status
from autograder.workspace import dependencies

SCHEMA = "headway.submission/1"
MANIFEST = "manifest.json"


def manifest(
    name: str, contents: dict[str, bytes], result: SubmissionResult, gave_up: dict[str, str]
) -> dict[str, Any]:
    """What is handed in: the files by their SHA-256, what the checks found here, and which solutions were looked at.

    What the checks found is the student's word; grading checks again.
    """
    by_function: dict[str, list[Any]] = {}
    for check in result.checks:
        by_function.setdefault(check.function, []).append(check)
    return {
        "schema": SCHEMA,
        "name": name,
        "kit": __version__,
        "files": {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()},
        "sha256": result.content_hash,
        "points": result.earned,
        "functions": {name: function_status(checks) for name, checks in by_function.items()},
        "gave_up": gave_up,
    }


def collect(folder: Path, curriculum: Curriculum) -> dict[str, bytes]:
    """The modules of a workspace, by file name: assignments and the student's own helpers."""
    modules = dependencies.take(folder, curriculum).modules
    # What is called otherwise nothing can import, and some names nothing can write into an archive.
    return {f"{name}.py": module.content for name, module in sorted(modules.items()) if name.isidentifier()}


def write(path: Path, contents: dict[str, bytes], about: dict[str, Any]) -> None:
    """Write the archive; the same work gives the same bytes.

    Raises:
        UsageError: if it cannot be written.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [*contents.items(), (MANIFEST, (json.dumps(about, indent=2) + "\n").encode())]:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    try:
        write_atomically(path, buffer.getvalue())
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror}). Name another file: --out FILE") from None


def safe_name(text: str) -> str:
    """A file name of plain characters."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "submission"

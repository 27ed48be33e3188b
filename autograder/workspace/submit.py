"""The archive of `headway submit`: the student's work and a manifest. `headway grade` accepts it as it is."""

import contextlib
import hashlib
import io
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.core.archives import zip_of
from autograder.core.output_files import require_replaceable
from autograder.course import registry
from autograder.documents.results import SubmissionResult, function_status
from autograder.errors import UsageError
from autograder.workspace.dependencies import MAX_BYTES
from autograder.workspace.files import DEBUG_MARK
from autograder.workspace.notebook_files import FOLDER
from autograder.workspace.solutions import GAVE_UP
from autograder.workspace.sources import describe
from autograder.workspace.state import State
from autograder.workspace.workspace import Workspace

SCHEMA = "headway.submission/1"
MANIFEST = "manifest.json"
REMEDY = "Choose the archive that headway submit or a lesson page made"


def make_manifest(name: str, contents: dict[str, bytes], result: SubmissionResult, state: State) -> dict[str, Any]:
    """Return the manifest: the files by SHA-256, the student's own results, and the solutions shown before a pass.

    Grading does not trust these results: it checks everything again.
    """
    functions = dict.fromkeys(check.function for check in result.checks)
    return {
        "schema": SCHEMA,
        "name": name,
        "kit": __version__,  # codespell:ignore kit
        "files": {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()},
        "sha256": result.content_hash,
        "points": result.earned,
        "functions": {
            name: function_status(check for check in result.checks if check.function == name) for name in functions
        },
        "gave_up": {function: str(when) for function, when in state.section(GAVE_UP).items()},
    }


def refuse_outside_links(folder: Path) -> None:
    """Raise UsageError if a file is a link out of the workspace: the file it leads to would be submitted."""
    root = folder.resolve()
    for path in sorted([*folder.glob("*.py"), *folder.glob("*.ipynb"), *folder.glob(f"{FOLDER}/*.ipynb")]):
        if path.is_file() and not path.resolve().is_relative_to(root):
            raise UsageError(
                f"{path.relative_to(folder)} is a link out of the workspace. Replace it with a copy of the file."
            )


def require_decided(workspace: Workspace) -> None:
    """Raise UsageError if the student must decide whether a file or a notebook is submitted."""
    for source in workspace.undecided(workspace.curriculum.modules):
        raise UsageError(f"nothing was packed. {describe(source)}")


def collect_files(workspace: Workspace) -> dict[str, bytes]:
    """Return the files of a workspace to submit, by name: modules, the student's own helpers among them, and notebooks.

    Of each assignment there is one version, the one that counts.
    """
    snapshot = workspace.snapshot
    notebooks = {f"{name}.ipynb": workspace.sources[name].notebook.content for name in workspace.notebook_modules}
    # Files whose names are not identifiers cannot be imported, and some such names cannot be stored in an archive.
    names = sorted(name for name in snapshot.modules if name.isidentifier() and name not in workspace.notebook_modules)
    found = {f"{name}.py": snapshot.modules[name].content for name in names}
    files = {name: content for name, content in found.items() if not content.startswith(DEBUG_MARK.encode())}
    course = snapshot.curriculum
    ungraded = {*registry.extra_texts(course.package), *(f"{name}.py" for name in course.given_modules)}
    return {name: content for name, content in files.items() if name not in ungraded} | notebooks


def make_archive(contents: dict[str, bytes], manifest: dict[str, Any]) -> bytes:
    """Return the archive; the same work gives the same bytes."""
    return zip_of({**contents, MANIFEST: (json.dumps(manifest, indent=2) + "\n").encode()})


def read_manifest(content: bytes) -> dict[str, Any]:
    """Return the manifest of an archive; raise UsageError if it is none of Headway."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if archive.getinfo(MANIFEST).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError
            with archive.open(MANIFEST) as file:
                manifest = json.loads(file.read(MAX_BYTES))
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, OSError, RuntimeError, RecursionError):
        raise UsageError(f"this is not an archive of Headway. {REMEDY}") from None
    match manifest:
        case {"schema": schema, "files": dict()} if schema == SCHEMA:
            return dict(manifest)
    raise UsageError(f"the manifest of this archive is not one of Headway. {REMEDY}")


def require_new_archive(path: Path, student: str, force: bool) -> None:
    """Raise UsageError if the archive would replace a file other than an earlier one of the same name."""

    def is_own(content: bytes) -> bool:
        with contextlib.suppress(UsageError):
            return bool(read_manifest(content).get("name") == student)
        return False

    what = f"an archive of headway submit with the name {student}"
    require_replaceable(path, is_own, what, option="--out FILE", force=force)


def safe_file_name(text: str) -> str:
    """Return a text as a file name of letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "submission"

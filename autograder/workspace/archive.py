"""The archive of `headway submit`: the student's work and a manifest. `headway grade` accepts it as it is.

`headway init DIR --from ARCHIVE` and lesson pages put it into a workspace.
"""

import contextlib
import hashlib
import io
import json
import re
import sys
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.core.archives import MAX_ARCHIVE_BYTES, Quota, SkippedFile, ToolFiles, read_archive, zip_of
from autograder.core.output_files import require_replaceable
from autograder.core.text import clean, counted
from autograder.course import Curriculum, registry
from autograder.documents.results import SubmissionResult, function_status
from autograder.errors import UsageError
from autograder.parsing.read_ipynb import MAX_NOTEBOOK_BYTES
from autograder.workspace import files, sources
from autograder.workspace.dependencies import MAX_BYTES
from autograder.workspace.files import DEBUG_MARK
from autograder.workspace.notebook_files import FOLDER, SUFFIX, released
from autograder.workspace.solutions import GAVE_UP
from autograder.workspace.sources import Version, describe
from autograder.workspace.state import State
from autograder.workspace.workspace import Workspace

SCHEMA = "headway.submission/1"
MANIFEST = "manifest.json"
REMEDY = "Choose the archive that headway submit or a lesson page made"
MAX_FILES = 200
LONGEST_NAME = 100
# Modules that Python, an editor or pytest import when they are started in the workspace, before any assignment.
IMPORTED_BY_OTHERS = sys.stdlib_module_names | {
    "autograder", "conftest", "numpy", "pip", "pytest", "regex", "sitecustomize", "usercustomize",
}  # fmt: skip


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


def read_submission(content: bytes, curriculum: Curriculum) -> tuple[dict[str, bytes], dict[str, Any], list[str]]:
    """Return the modules of an archive by file name, its manifest, and a line for each file that is left out."""
    if len(content) > MAX_ARCHIVE_BYTES:  # before its list of files is read, which takes long and much memory
        raise UsageError(f"the archive is larger than {MAX_ARCHIVE_BYTES >> 20} MiB. {REMEDY}")
    manifest = read_manifest(content)
    given = registry.extra_texts(curriculum.package)
    names = {_folded(f"{module}.py"): f"{module}.py" for module in curriculum.modules}

    def why_not(name: str) -> str | None:
        if name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in curriculum.modules:
            return None
        module = name.removesuffix(".py")
        if module == name or not module.isidentifier():
            return "it is not a Python module"
        if len(name) > LONGEST_NAME:
            return "its name is too long"
        if names.setdefault(_folded(name), name) != name:
            return f"it would be the same file as {names[_folded(name)]} on some systems"
        if module not in curriculum.modules and (module in IMPORTED_BY_OTHERS or module.startswith("__")):
            return "other programs would import it by its name"
        return "every workspace has it" if name in given else None

    modules: dict[str, bytes] = {}
    notes = []
    quota = Quota(MAX_ARCHIVE_BYTES, f"because it is larger than {MAX_ARCHIVE_BYTES >> 20} MiB unpacked")
    try:
        for path, file in read_archive("archive.zip", content, _max_bytes, MAX_FILES, quota):
            if isinstance(file, ToolFiles):
                continue
            name = path.rpartition("/")[2]
            reason = file if isinstance(file, SkippedFile) else why_not(name)
            if path.count("/") > 1:
                reason = "it does not lie at the top of the archive or in its only folder"
            if reason is not None and name.endswith((".py", SUFFIX)):
                notes.append(f"{clean(name, 80)} was left out: {reason}")
            elif isinstance(file, SkippedFile) or reason is not None:
                continue
            elif manifest["files"].get(name) != hashlib.sha256(file).hexdigest():
                raise UsageError(f"{name} in the archive was changed after it was packed. Export it again")
            else:
                modules[name] = file
    except SkippedFile as error:
        raise UsageError(f"{error}. {REMEDY}") from None
    if not any(name.partition(".")[0] in curriculum.modules for name in modules):
        raise UsageError(f"the archive holds no assignment of this course. {REMEDY}")
    return modules, manifest, notes


def _folded(name: str) -> str:
    """Return what is equal of two names that a file system, or Python's import, takes for the same."""
    return unicodedata.normalize("NFKC", name).casefold()


def _max_bytes(name: str) -> int:
    return MAX_NOTEBOOK_BYTES if name.endswith(SUFFIX) else MAX_BYTES if name.endswith(".py") else 0


def import_archive(folder: Path, content: bytes, state: State, *, notebooks: bool = True) -> list[str]:
    """Write the modules and notebooks of an archive into a workspace, with a backup of each with work; return notes.

    What was imported counts where there is another version of it. Results in the manifest are not taken over, because
    everything is checked again. The caller saves the state. Without `notebooks`, only modules are imported.
    """
    files_by_name, manifest, notes = read_submission(content, state.curriculum)
    if not notebooks:
        for name in [name for name in files_by_name if name.endswith(SUFFIX)]:
            notes.append(f"{name} was left out. To import it: headway init DIR --from ARCHIVE")
            del files_by_name[name]
    modules = {f"{FOLDER}/{n}" if n.endswith(SUFFIX) else n: file for n, file in files_by_name.items()}
    for name in modules:
        path = folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise UsageError(f"nothing was imported: {name} is a link or not a plain file. Move it away")
    for name in (FOLDER, files.BACKUPS):
        if (folder / name).is_symlink():
            raise UsageError(f"nothing was imported: {name}/ is a link. Replace it with a folder")
    changed = backups = 0
    for name, module in modules.items():
        path = folder / name
        if path.exists():
            if (old := path.read_bytes()) == module:
                continue
            if not _is_stub(name, old, state.curriculum):
                files.back_up(path, folder)
                backups += 1
        if path.parent != folder:
            files.make_folder(path.parent)
        files.write_bytes(path, module)
        changed += 1
    _let_count(folder, modules, state)
    gave_up = manifest.get("gave_up")
    for function, when in gave_up.items() if isinstance(gave_up, dict) else ():
        if function in state.curriculum.functions and isinstance(when, str):
            state.section(GAVE_UP).setdefault(function, clean(when, 40))
    kept = f"; {counted(backups, 'earlier version')} kept in {files.BACKUPS}/" if backups else ""
    return [f"{counted(changed, 'file')} imported{kept}", *notes]


def _let_count(folder: Path, names: Iterable[str], state: State) -> None:
    """Record that the imported version counts of each assignment that has two."""
    workspace = Workspace(folder, state.curriculum, state)
    for name in names:
        if (source := workspace.sources.get(Path(name).stem)) is not None and source.notebook.module is not None:
            version: Version = "notebook" if name.endswith(SUFFIX) else "file"
            state.section(sources.KEY)[source.module] = {**source.record(version), "by": "import"}


def _is_stub(name: str, content: bytes, curriculum: Curriculum) -> bool:
    module = Path(name).stem
    if name.endswith(SUFFIX):
        return content == released(module)
    return module in curriculum.modules and content == files.stub_text(module, curriculum).encode()

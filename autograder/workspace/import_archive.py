"""Put the archive of `headway submit` into a workspace, for `headway init DIR --from ARCHIVE` and for lesson pages."""

import hashlib
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.core.archives import MAX_ARCHIVE_BYTES, Quota, SkippedFile, ToolFiles, read_archive
from autograder.core.text import clean, counted
from autograder.course import Curriculum, registry
from autograder.errors import UsageError
from autograder.parsing.read_ipynb import MAX_NOTEBOOK_BYTES
from autograder.workspace import files, sources, submit
from autograder.workspace.dependencies import MAX_BYTES
from autograder.workspace.notebook_files import FOLDER, SUFFIX, released
from autograder.workspace.solutions import GAVE_UP
from autograder.workspace.sources import Version
from autograder.workspace.state import State
from autograder.workspace.workspace import Workspace

MAX_FILES = 200
LONGEST_NAME = 100
# Modules that Python, an editor or pytest import when they are started in the workspace, before any assignment.
IMPORTED_BY_OTHERS = sys.stdlib_module_names | {
    "autograder", "conftest", "numpy", "pip", "pytest", "regex", "sitecustomize", "usercustomize",
}  # fmt: skip


def read_submission(content: bytes, curriculum: Curriculum) -> tuple[dict[str, bytes], dict[str, Any], list[str]]:
    """Return the modules of an archive by file name, its manifest, and a line for each file that is left out."""
    if len(content) > MAX_ARCHIVE_BYTES:  # before its list of files is read, which takes long and much memory
        raise UsageError(f"the archive is larger than {MAX_ARCHIVE_BYTES >> 20} MiB. {submit.REMEDY}")
    manifest = submit.read_manifest(content)
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
        raise UsageError(f"{error}. {submit.REMEDY}") from None
    if not any(name.partition(".")[0] in curriculum.modules for name in modules):
        raise UsageError(f"the archive holds no assignment of this course. {submit.REMEDY}")
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

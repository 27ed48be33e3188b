"""Read submissions safely: plain modules on an allowlist are copied to a fresh folder, everything else is left out.

Submissions are untrusted. Links are not followed (one could point to the solutions), and no size is believed (an
archive could hold a petabyte). Each file that looks like a submission but is left out gets a note of one line.
"""

import hashlib
import io
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.classroom.submissions.folder_reader import FolderReader, open_folder
from autograder.classroom.submissions.model import Attempt, SubmissionPart, is_gradable
from autograder.core.files import lower_suffix
from autograder.core.text import clean, clean_name
from autograder.core.zip_archive import MAX_ARCHIVE_BYTES, Quota, SkippedFile, read_archive
from autograder.course import Curriculum, registry
from autograder.parsing.read_ipynb import MAX_NOTEBOOK_BYTES
from autograder.sandbox.source_reader import SourceReader

MAX_ENTRIES = 2000
MAX_FILES = 200
MAX_FILE_BYTES = 1 << 20
MAX_BYTES = 4 << 20
MAX_NOTES = 20
MAX_RAW_BYTES = 64 << 20
MAX_UNPACKED_BYTES = 64 << 20
MAX_NOTEBOOKS = 30
CLOCK_STEP_NS = 2_000_000_000  # the coarsest time stamps of a file system (FAT)
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\.py")
# Python or pytest load these on their own where they find them. Headway never does, and they are never an assignment.
RESERVED = {"conftest.py", "sitecustomize.py", "usercustomize.py"}

# What browsers and file managers add to the name of a second copy: `softmax (1).py`, `softmax copy.py`.
_COPY = re.compile(r"( ?\(\d{1,3}\)|( -)? copy)(?=\.py$)", re.IGNORECASE)

Content = bytes | SkippedFile


@dataclass(frozen=True)
class SubmittedFile:
    """A file as it was submitted, or the reason why it was not read."""

    name: str
    content: Content
    assignment: str = ""
    is_unclear: bool = False  # It may be of another student.


@dataclass
class IntakeResult:
    """The number of assignments' modules that were copied, and a note for each file that was left out."""

    modules: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Module:
    content: bytes
    in_own_folder: bool  # whether it was submitted for the assignment whose module it is


def read_files(attempt: Attempt) -> list[SubmittedFile]:
    """Read every file of the attempt that looks like part of a submission; archives are not opened."""
    files: list[SubmittedFile] = []
    size = 0
    for part in attempt.parts:
        try:
            for file in _files(part):
                size += len(file.content) if isinstance(file.content, bytes) else 0
                if size > MAX_RAW_BYTES:
                    raise SkippedFile(
                        f"the rest is left out: the files are larger than {MAX_RAW_BYTES >> 20} MiB together"
                    )
                files.append(file)
        except OSError as error:
            files.append(SubmittedFile("", SkippedFile(f"the submission cannot be read ({error.strerror or error})")))
        except SkippedFile as error:
            files.append(SubmittedFile("", error))
    return files


def content_digest(files: list[SubmittedFile]) -> str:
    """Return the SHA-256 of names and contents; a file that could not be read counts by its reason."""
    state = hashlib.sha256()
    for file in files:
        content = file.content if isinstance(file.content, bytes) else f"left out: {file.content}".encode()
        marks = f"{file.assignment}\0{file.name}\0{len(content)}\0{'?' if file.is_unclear else ''}"
        state.update(marks.encode("utf-8", "surrogateescape") + content)
    return state.hexdigest()


def file_signature(attempt: Attempt) -> str:
    """Return a digest of the metadata of the attempt's files: while it is the same, the files have not changed.

    It is a hundred times cheaper than `content_digest`. The author of a file cannot set the time of its last status
    change. The signature is empty, and never matches, where files changed a moment ago or cannot be read.
    """
    state = hashlib.sha256()
    latest = time.time_ns() - CLOCK_STEP_NS
    try:
        for part in attempt.parts:
            for name, status in _statuses(part):
                if status.st_ctime_ns > latest:
                    return ""
                marks = (status.st_mode, status.st_nlink, status.st_ino, status.st_size, status.st_mtime_ns)
                state.update(
                    repr((part.assignment, part.is_unclear, name, *marks, status.st_ctime_ns)).encode(
                        "utf-8", "replace"
                    )
                )
    except (OSError, SkippedFile):
        return ""
    return state.hexdigest()


def _statuses(part: SubmissionPart) -> Iterator[tuple[str, os.stat_result]]:
    root = part.root or part.path.parent
    with open_folder(part.path.parent, root) as parent:
        status = parent.lstat(part.path.name)
    yield str(part.path), status
    if stat.S_ISDIR(status.st_mode):
        with open_folder(part.path, root) as folder:
            for name in _submitted_names(folder):
                yield name, folder.lstat(name)


def _submitted_names(folder: FolderReader) -> list[str]:
    """Return the names in a folder that look like part of a submission, sorted."""
    submitted = []
    with folder.entries() as entries:
        for count, entry in enumerate(entries):
            if count >= MAX_ENTRIES:
                raise SkippedFile(f"the submission has more than {MAX_ENTRIES} files and folders: left out")
            if is_gradable(entry.name) and not entry.name.startswith("."):
                submitted.append(entry.name)
    return sorted(submitted)


def copy_modules(
    files: list[SubmittedFile], target: Path, curriculum: Curriculum, reader: SourceReader
) -> IntakeResult:
    """Write the modules among the files to the empty folder `target`; `reader` reads the notebooks."""
    notes: list[str] = []
    chosen: dict[str, _Module] = {}
    spelling: dict[str, str] = {}
    unpacked = Quota(MAX_UNPACKED_BYTES, f"unpacked it is larger than {MAX_UNPACKED_BYTES >> 20} MiB")
    notebooks = Quota(MAX_NOTEBOOKS, f"there are more than {MAX_NOTEBOOKS} notebooks")
    try:
        for file in files:
            if file.is_unclear and _choose_by_functions(chosen, curriculum, notes):
                notes.append(f"{clean_name(file.name)}: left out, it may be of another student")
                continue
            for name, content in _modules(file, curriculum, reader, unpacked, notebooks):
                shown = clean_name(name)
                if name.lower().removesuffix(".py") in curriculum.modules:
                    name = name.lower()  # Softmax.py, which some systems do not distinguish from softmax.py
                if isinstance(content, SkippedFile):
                    notes.append(f"{shown}: left out, {content}" if shown else str(content))
                    continue
                module = _Module(content, file.assignment == name.removesuffix(".py"))
                known = spelling.setdefault(name.casefold(), name)
                before = chosen.get(known)
                if before and (before.in_own_folder or not module.in_own_folder):
                    # Two files of one name: unless one is in its assignment's own folder, the first is taken.
                    if before.content != content and not before.in_own_folder:
                        notes.append(f"{shown}: left out because there are two files of that name")
                    continue
                if len(chosen) >= MAX_FILES:
                    raise SkippedFile(f"{shown} and the rest: left out because there are more than {MAX_FILES} files")
                if sum(len(other.content) for other in chosen.values()) + len(content) > MAX_BYTES:
                    because = f"because the files are larger than {MAX_BYTES >> 20} MiB together"
                    raise SkippedFile(f"{shown} and the rest: left out {because}")
                chosen[known] = module
    except SkippedFile as error:
        notes.append(str(error))
    _choose_by_functions(chosen, curriculum, notes)
    for name, module in chosen.items():
        (target / name).write_bytes(module.content)
    for name in curriculum.given_modules:  # students need not submit what they were given
        shutil.copyfile(registry.solution_path(name, curriculum.package), target / f"{name}.py")
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"and {len(notes) - MAX_NOTES} more files left out"]
    return IntakeResult(sum(name.removesuffix(".py") in curriculum.modules for name in chosen), notes)


def _choose_by_functions(chosen: dict[str, _Module], curriculum: Curriculum, notes: list[str]) -> bool:
    """Where no file has the name of a module, use a file as the module whose functions it defines: `hw1_final.py`.

    Return whether there is a module now.
    """
    if any(name.removesuffix(".py") in curriculum.modules for name in chosen):
        return True
    candidates: dict[str, list[str]] = {}
    for name, module in chosen.items():
        candidates.setdefault(guess_module(module.content, curriculum), []).append(name)
    for guess, names in candidates.items():
        if guess and len(names) == 1:
            chosen[f"{guess}.py"] = chosen[names[0]]
            notes.append(f"{names[0]}: used as {guess}.py, because it defines the functions of that module")
        elif guess:
            notes.append(f"{clean(' and '.join(names), 200)}: each could be {guess}.py, so none of them is used")
    return any(name.removesuffix(".py") in curriculum.modules for name in chosen)


def guess_module(content: bytes, curriculum: Curriculum) -> str:
    """Return the module most of whose functions the file defines, or an empty string."""
    # Not parsed: a parser in the grader would be something to attack.
    defined = {name.decode("utf-8", "replace") for name in re.findall(rb"^def[ \t]+(\w+)", content, re.MULTILINE)}
    counts = {
        module: len(defined & {function.name for function in assignment.functions})
        for module, assignment in curriculum.modules.items()
    }
    best = max(counts, key=lambda module: counts[module])
    return best if counts[best] else ""


def _modules(
    file: SubmittedFile, curriculum: Curriculum, reader: SourceReader, unpacked: Quota, notebooks: Quota
) -> Iterator[tuple[str, Content]]:
    """Yield the modules in one file: itself, those of a notebook, those of an archive."""
    entries = iter([(file.name, file.content)])
    if isinstance(file.content, bytes) and file.name.endswith(".zip"):
        entries = read_archive(io.BytesIO(file.content), _skip_reason, _max_bytes, MAX_ENTRIES, unpacked)
    for name, content in entries:
        if isinstance(content, bytes) and name.endswith(".ipynb"):
            notebooks.use()
            try:
                yield from reader.notebook_modules(content, curriculum.function_names, name).items()
            except SkippedFile as reason:
                yield name, reason
        else:
            yield name, content


def _files(part: SubmissionPart) -> Iterator[SubmittedFile]:
    """Yield the files of a part that look like a submission, with the reason for each that is not taken."""
    root = part.root or part.path.parent
    with open_folder(part.path.parent, root) as parent:
        mode = parent.lstat(part.path.name).st_mode
        if stat.S_ISLNK(mode):
            raise SkippedFile("the submission is a link, and links are not followed")
        if not stat.S_ISDIR(mode):
            name = _importable_name(_COPY.sub("", part.name or part.path.name))
            yield _read_file(parent, part.path.name, name, part)
            return
    with open_folder(part.path, root) as folder:
        names = _submitted_names(folder)
        # A module comes before its notebook.
        for name in sorted(names, key=lambda name: not lower_suffix(name).endswith(".py")):
            original = _importable_name(_COPY.sub("", name))
            yield _read_file(folder, name, name if original in names else original, part)


def _importable_name(name: str) -> str:
    """Return `homework one.py`, `hw-1.py` and `HW.PY` as Python could import them."""
    name = lower_suffix(name)
    return re.sub(r"[ ().-]", "_", name[:-3]) + name[-3:] if name.endswith(".py") else name


def _read_file(folder: FolderReader, file: str, name: str, part: SubmissionPart) -> SubmittedFile:
    content: Content
    try:
        reason = _skip_reason(name)
        content = SkippedFile(reason) if reason else folder.read_plain_file(file, _max_bytes(name))
    except SkippedFile as error:
        content = error
    except OSError as error:
        content = SkippedFile(error.strerror or str(error))
    return SubmittedFile(name, content, part.assignment, part.is_unclear)


def _skip_reason(name: str) -> str | None:
    if name in RESERVED:
        return "a file of this name is not part of a submission"
    if name.endswith((".ipynb", ".zip")) or MODULE.fullmatch(name):
        return None
    return "its name is not that of a module (letters, digits and _)"


def _max_bytes(name: str) -> int:
    if name.endswith(".zip"):
        return MAX_ARCHIVE_BYTES
    return MAX_NOTEBOOK_BYTES if name.endswith(".ipynb") else MAX_FILE_BYTES

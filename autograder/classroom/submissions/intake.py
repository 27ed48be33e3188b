"""Read the files of a submission safely, and tell whether they have changed.

Submissions are untrusted. Links are not followed (one could point to the solutions), and no size is believed. What the
files are, and which of them count, is decided in `account.py`.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.classroom.submissions.folder_reader import FolderReader, open_folder
from autograder.classroom.submissions.model import Attempt, SubmissionPart, is_gradable
from autograder.core.archives import MAX_ARCHIVE_BYTES, SUFFIXES, SkippedFile, ToolFiles
from autograder.core.files import lower_suffix
from autograder.core.text import clean_name
from autograder.parsing.read_ipynb import MAX_NOTEBOOK_BYTES

MAX_ENTRIES = 2000
MAX_FOLDER_DEPTH = 4
MAX_FILE_BYTES = 1 << 20
MAX_RAW_BYTES = 96 << 20
CLOCK_STEP_NS = 2_000_000_000  # the coarsest time stamps of a file system (FAT)
# Folders of tools, and the one in which a workspace keeps earlier versions.
_FOLDERS_OF_TOOLS = {"__pycache__", "__MACOSX", "backups", "env", "node_modules", "site-packages", "venv"}

Content = bytes | SkippedFile


@dataclass(frozen=True, eq=False)
class SubmittedFile:
    """A file as it was submitted, or the reason why it was not read."""

    name: str  # its path in the submission, with those of the archives that it is in
    content: Content
    assignment: str = ""  # the assignment that it was submitted for, if the layout says so
    is_unclear: bool = False  # It may be of another student.
    is_part: bool = False  # It was submitted by itself, rather than in a folder.
    changed: float | None = None  # when, in seconds since the epoch, as far as its folder says

    @property
    def stem(self) -> str:
        """The name without folders and suffix."""
        return PurePosixPath(self.name).stem.strip()

    @property
    def shown(self) -> str:
        """The name as it may be shown."""
        return clean_name(self.name, 120)


def read_files(attempt: Attempt) -> list[SubmittedFile]:
    """Return the files of the attempt; archives are not opened."""
    files: list[SubmittedFile] = []
    size = 0
    for part in attempt.parts:
        try:
            for file in _files(part):
                size += len(file.content) if isinstance(file.content, bytes) else 0
                if size > MAX_RAW_BYTES:
                    limit = f"{MAX_RAW_BYTES >> 20} MiB"
                    raise SkippedFile(f"the rest is left out: the files are larger than {limit} together")
                files.append(file)
        except OSError as error:
            files.append(SubmittedFile("", SkippedFile(f"the submission cannot be read ({error.strerror or error})")))
        except SkippedFile as error:
            files.append(SubmittedFile("", error))
    return files


def content_digest(files: list[SubmittedFile]) -> str:
    """Return the SHA-256 of names and contents, without those of tools; what could not be read counts by its reason."""
    state = hashlib.sha256()
    for file in files:
        if isinstance(file.content, ToolFiles):
            continue
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
                known = (part.assignment, part.is_unclear, name, *marks, status.st_ctime_ns)
                state.update(repr(known).encode("utf-8", "replace"))
    except (OSError, SkippedFile):
        return ""
    return state.hexdigest()


def _statuses(part: SubmissionPart) -> Iterator[tuple[str, os.stat_result]]:
    root = part.root or part.path.parent
    with open_folder(part.path.parent, root) as parent:
        status = parent.lstat(part.path.name)
    yield str(part.path), status
    if stat.S_ISDIR(status.st_mode):
        for folder, name, path in _entries(part.path, root, {}):
            yield path, folder.lstat(name)


def _entries(top: Path, root: Path, left_out: dict[str, SkippedFile]) -> Iterator[tuple[FolderReader, str, str]]:
    """Yield each file in a folder and those below it: its open folder, its name, and its path in `top`.

    Folders that are not entered, and hidden files, are added to `left_out`, with the reason.
    """
    pending, seen = [top], 0
    while pending:
        path = pending.pop(0)
        above = "".join(f"{part}/" for part in path.relative_to(top).parts)
        with open_folder(path, root) as folder:
            names, folders = list[str](), list[str]()
            with folder.entries() as entries:
                for entry in entries:
                    seen += 1
                    if seen > MAX_ENTRIES:
                        raise SkippedFile(f"the submission has more than {MAX_ENTRIES} files and folders: left out")
                    is_folder = entry.is_dir(follow_symlinks=False) and not is_gradable(entry.name)
                    if entry.name.startswith(".") or (is_folder and entry.name in _FOLDERS_OF_TOOLS):
                        left_out[f"{above}{entry.name}{'/' * is_folder}"] = ToolFiles()
                    else:
                        (folders if is_folder else names).append(entry.name)
            # A module comes before its notebook.
            for name in sorted(names, key=lambda name: (not lower_suffix(name).endswith(".py"), name)):
                yield folder, name, above + name
        if above.count("/") < MAX_FOLDER_DEPTH:
            pending += [path / name for name in sorted(folders)]
        else:
            too_deep = SkippedFile(f"it lies more than {MAX_FOLDER_DEPTH} folders deep")
            left_out.update((f"{above}{name}/", too_deep) for name in folders)


def _files(part: SubmissionPart) -> Iterator[SubmittedFile]:
    """Yield the files of a part, with the reason for each that is not read."""
    root = part.root or part.path.parent
    with open_folder(part.path.parent, root) as parent:
        mode = parent.lstat(part.path.name).st_mode
        if stat.S_ISLNK(mode):
            raise SkippedFile("the submission is a link, and links are not followed")
        if not stat.S_ISDIR(mode):
            yield _read_file(parent, part.path.name, part.name or part.path.name, part)
            return
    above = f"{part.assignment}/" if part.assignment else ""
    left_out = dict[str, SkippedFile]()
    for folder, name, path in _entries(part.path, root, left_out):
        yield _read_file(folder, name, above + path, part, is_part=False)
    for path, reason in left_out.items():
        yield SubmittedFile(above + path, reason, part.assignment, part.is_unclear)


def _read_file(
    folder: FolderReader, file: str, name: str, part: SubmissionPart, *, is_part: bool = True
) -> SubmittedFile:
    content: Content = b""
    changed = None
    try:
        changed = folder.lstat(file).st_mtime
        if limit := max_bytes(name):
            content = folder.read_plain_file(file, limit)
    except SkippedFile as error:
        content = error
    except OSError as error:
        content = SkippedFile(error.strerror or str(error))
    return SubmittedFile(name, content, part.assignment, part.is_unclear, is_part, changed)


TEXTS = (".txt", ".pyw")  # that may hold code; they are read to say so, and never count


def max_bytes(name: str) -> int:
    """Return how large a file of this name may be; 0 if it is none that can be graded, so that nobody reads it."""
    name = lower_suffix(name)
    if name.endswith(SUFFIXES):
        return MAX_ARCHIVE_BYTES
    return MAX_NOTEBOOK_BYTES if name.endswith(".ipynb") else MAX_FILE_BYTES if name.endswith((".py", *TEXTS)) else 0

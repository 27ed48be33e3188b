"""Take submissions in: plain modules are copied by whitelist into a fresh folder, all else is left behind.

Nothing that a student hands in is followed, unpacked by its own word or believed about its size: a link could point to
the solutions, an archive could hold a petabyte. What is left behind although it looks like work is said in one line.
"""

import hashlib
import io
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from autograder.classroom.submissions.model import SUBMISSION_SUFFIXES, Attempt, SubmissionPart
from autograder.core.text import clean
from autograder.core.zip_archive import MAX_ARCHIVE_BYTES, Quota, SkippedFile, open_archive
from autograder.curriculum import Curriculum
from autograder.notebooks import read_ipynb as notebook_intake

MAX_ENTRIES = 2000
MAX_FILES = 200
MAX_FILE_BYTES = 1 << 20
MAX_BYTES = 4 << 20
MAX_NOTES = 20
MAX_RAW_BYTES = 64 << 20
MAX_UNPACKED_BYTES = 64 << 20
MAX_NOTEBOOKS = 30
SETTLED_NS = 2_000_000_000  # a file system's clock may tick no oftener than that (FAT)
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\.py")
# Python or pytest load these by themselves where they find them. Nothing of the kit does; they are no work either.
RESERVED = {"conftest.py", "sitecustomize.py", "usercustomize.py"}

# What browsers and file managers add to the name of a second copy: `softmax (1).py`, `softmax copy.py`.
_COPY = re.compile(r"( ?\(\d{1,3}\)|( -)? copy)(?=\.py$)", re.IGNORECASE)

Content = bytes | SkippedFile


@dataclass(frozen=True)
class SubmittedFile:
    """A file as it was handed in, or why it was not read."""

    name: str
    content: Content
    assignment: str = ""


@dataclass
class IntakeResult:
    """What came of taking a submission in: how many modules, and what was left behind, one line each."""

    modules: int = 0
    notes: list[str] = field(default_factory=list)


def read_files(attempt: Attempt) -> list[SubmittedFile]:
    """Every file of the attempt that looks like work, unopened archives among them."""
    found: list[SubmittedFile] = []
    size = 0
    for part in attempt.parts:
        try:
            for raw in _files(part):
                size += len(raw.content) if isinstance(raw.content, bytes) else 0
                if size > MAX_RAW_BYTES:
                    raise SkippedFile(f"the rest is left out, together it is larger than {MAX_RAW_BYTES >> 20} MiB")
                found.append(raw)
        except OSError as error:
            found.append(SubmittedFile("", SkippedFile(f"the submission cannot be read ({error.strerror or error})")))
        except SkippedFile as error:
            found.append(SubmittedFile("", error))
    return found


def digest(files: list[SubmittedFile]) -> str:
    """SHA-256 of what was handed in, file by file; what could not be read counts by its reason."""
    state = hashlib.sha256()
    for raw in files:
        content = raw.content if isinstance(raw.content, bytes) else f"left out: {raw.content}".encode()
        state.update(f"{raw.assignment}\0{raw.name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return state.hexdigest()


def signature(attempt: Attempt) -> str:
    """What the file system says of the attempt's files: as long as it says the same, they are what they were.

    Sizes, inodes and both times of every file, not its content: a hundred times cheaper. The time of a file's last
    change cannot be set by whoever writes it. Empty, and so never equal, where that is no proof: for files that were
    changed a moment ago, or cannot be looked at.
    """
    state = hashlib.sha256()
    latest = time.time_ns() - SETTLED_NS
    try:
        for part in attempt.parts:
            for name, status in _statuses(part):
                if status.st_ctime_ns > latest:
                    return ""
                marks = (status.st_mode, status.st_nlink, status.st_ino, status.st_size, status.st_mtime_ns)
                state.update(repr((part.assignment, name, *marks, status.st_ctime_ns)).encode("utf-8", "replace"))
    except (OSError, SkippedFile):
        return ""
    return state.hexdigest()


def _statuses(part: SubmissionPart) -> Iterator[tuple[str, os.stat_result]]:
    status = part.path.lstat()
    yield str(part.path), status
    if stat.S_ISDIR(status.st_mode):
        for entry in _work(part.path):
            yield entry.name, entry.stat(follow_symlinks=False)


def _work(folder: Path) -> list["os.DirEntry[str]"]:
    """What looks like work in a folder, by its name alone, and in the order of the names."""
    found = []
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= MAX_ENTRIES:
                raise SkippedFile(f"the submission has more than {MAX_ENTRIES} files and folders: left out")
            if entry.name.endswith(SUBMISSION_SUFFIXES) and not entry.name.startswith("."):
                found.append(entry)
    return sorted(found, key=lambda entry: entry.name)


def copy_modules(files: list[SubmittedFile], into: Path, curriculum: Curriculum) -> IntakeResult:
    """Write the modules among the files to the empty folder `into`."""
    taken = IntakeResult()
    chosen: dict[str, tuple[bool, bytes]] = {}  # by module file: whether it lay in its own assignment's folder
    spelling: dict[str, str] = {}
    unpacked = Quota(MAX_UNPACKED_BYTES, f"unpacked it is larger than {MAX_UNPACKED_BYTES >> 20} MiB")
    notebooks = Quota(MAX_NOTEBOOKS, f"there are more than {MAX_NOTEBOOKS} notebooks")
    try:
        for raw in files:
            for name, content in _modules(raw, curriculum, unpacked, notebooks):
                shown = " ".join(clean(name, 80).split())  # a name may hold line breaks
                if name.lower().removesuffix(".py") in curriculum.modules:
                    name = name.lower()  # Softmax.py, which some systems cannot tell from softmax.py
                if isinstance(content, SkippedFile):
                    taken.notes.append(f"{shown}: left out, {content}" if shown else str(content))
                    continue
                own = raw.assignment == name.removesuffix(".py")
                known = spelling.setdefault(name.casefold(), name)
                if known in chosen and not (own and not chosen[known][0]):
                    # The same file on some systems, or handed in twice: unless one lay in its assignment's own folder,
                    # nobody knows which is meant.
                    if chosen[known][1] != content and not chosen[known][0]:
                        taken.notes.append(f"{shown}: left out, there are two files of that name")
                    continue
                if len(chosen) >= MAX_FILES:
                    raise SkippedFile(f"{shown} and the rest: left out, there are more than {MAX_FILES} files")
                if sum(len(kept) for _, kept in chosen.values()) + len(content) > MAX_BYTES:
                    raise SkippedFile(
                        f"{shown} and the rest: left out, together they are larger than {MAX_BYTES >> 20} MiB"
                    )
                chosen[known] = (own, content)
    except SkippedFile as error:
        taken.notes.append(str(error))
    _name_the_only_ones(chosen, curriculum, taken.notes)
    for name, (_, content) in chosen.items():
        (into / name).write_bytes(content)
    if len(taken.notes) > MAX_NOTES:
        taken.notes[MAX_NOTES:] = [f"and {len(taken.notes) - MAX_NOTES} more files left out"]
    taken.modules = sum(name.removesuffix(".py") in curriculum.modules for name in chosen)
    return taken


def _name_the_only_ones(chosen: dict[str, tuple[bool, bytes]], curriculum: Curriculum, notes: list[str]) -> None:
    """Where no file has the name of a module, a file counts as the one whose functions it defines: `hw1_final.py`."""
    if any(name.removesuffix(".py") in curriculum.modules for name in chosen):
        return
    meant: dict[str, list[str]] = {}
    for name, (_, content) in chosen.items():
        meant.setdefault(guess_module(content, curriculum), []).append(name)
    for module, names in meant.items():
        if module and len(names) == 1:
            chosen[f"{module}.py"] = chosen[names[0]]
            notes.append(f"{names[0]}: taken for {module}.py, whose functions it defines")
        elif module:
            notes.append(f"{clean(' and '.join(names), 200)}: each could be {module}.py, so neither is taken for it")


def guess_module(content: bytes, curriculum: Curriculum) -> str:
    """The module that a file of another name is most likely meant to be: the one whose functions it defines, or ""."""
    # Not parsed: a parser in the grader is something to attack.
    defined = {name.decode("utf-8", "replace") for name in re.findall(rb"^def[ \t]+(\w+)", content, re.MULTILINE)}
    scores = {
        module: len(defined & {function.name for function in assignment.functions})
        for module, assignment in curriculum.modules.items()
    }
    best = max(scores, key=lambda module: scores[module])
    return best if scores[best] else ""


def _modules(
    raw: SubmittedFile, curriculum: Curriculum, unpacked: Quota, notebooks: Quota
) -> Iterator[tuple[str, Content]]:
    """The modules in one file: itself, those of a notebook, those of an archive."""
    content = raw.content
    if isinstance(content, bytes) and raw.name.endswith(".zip"):
        found = open_archive(io.BytesIO(content), why_not, _max_bytes, MAX_ENTRIES, unpacked)
    else:
        found = iter([(raw.name, content)])
    for name, inner in found:
        if isinstance(inner, bytes) and name.endswith(".ipynb"):
            notebooks.take()
            yield from _of_notebook(name, inner, curriculum)
        else:
            yield name, inner


def _of_notebook(name: str, content: bytes, curriculum: Curriculum) -> Iterator[tuple[str, Content]]:
    try:
        yield from notebook_intake.read_modules(content, curriculum, name).items()
    except SkippedFile as left:
        yield name, left


def _files(part: SubmissionPart) -> Iterator[SubmittedFile]:
    """The files of a part; of what looks like work and is not taken, why."""
    mode = part.path.lstat().st_mode
    if stat.S_ISDIR(mode):
        work = _work(part.path)
        names = {entry.name for entry in work}
        for entry in sorted(work, key=lambda entry: not entry.name.endswith(".py")):  # a module before its notebook
            meant = _plain(_COPY.sub("", entry.name))
            yield _file(part.path / entry.name, entry.name if meant in names else meant, part.assignment)
    elif stat.S_ISLNK(mode):
        raise SkippedFile("the submission is a link, and links are not followed")
    else:
        yield _file(part.path, _plain(_COPY.sub("", part.name or part.path.name)), part.assignment)


def _plain(name: str) -> str:
    """`homework one.py` and `hw-1.py` as Python could import them."""
    return re.sub(r"[ ().-]", "_", name[:-3]) + name[-3:] if name.endswith(".py") else name


def _file(path: Path, name: str, assignment: str) -> SubmittedFile:
    reason = why_not(name)
    try:
        return SubmittedFile(
            name, SkippedFile(reason) if reason else read_plain_file(path, _max_bytes(name)), assignment
        )
    except SkippedFile as left:
        return SubmittedFile(name, left, assignment)
    except OSError as error:
        why = SkippedFile("it is a link" if path.is_symlink() else error.strerror or str(error))
        return SubmittedFile(name, why, assignment)


def why_not(name: str) -> str | None:
    """Why a file of this name is not taken, if it is not."""
    if name in RESERVED:
        return "a file of this name is not part of a submission"
    if name.endswith((".ipynb", ".zip")):
        return None
    return None if MODULE.fullmatch(name) else "its name is not that of a module (letters, digits and _)"


def _max_bytes(name: str) -> int:
    if name.endswith(".zip"):
        return MAX_ARCHIVE_BYTES
    return notebook_intake.MAX_NOTEBOOK_BYTES if name.endswith(".ipynb") else MAX_FILE_BYTES


def read_plain_file(path: Path, max_bytes: int) -> bytes:
    """A plain file's content.

    Raises:
        SkippedFile: if it is something else, or larger.
    """
    with open_plain_file(path) as file:
        if os.fstat(file.fileno()).st_size > max_bytes:
            raise SkippedFile(f"it is larger than {max_bytes >> 20} MiB")
        return file.read(max_bytes)


def open_plain_file(path: Path) -> BinaryIO:
    """Open a plain file that has no other name, without following a link to it.

    It is looked at after it was opened, so that nothing can be exchanged in between.

    Raises:
        SkippedFile: if it is something else.
    """
    # O_NONBLOCK: opening a named pipe must not wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        return file
    file.close()
    several = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    raise SkippedFile("it is a hard link: the same file has another name" if several else "it is not a plain file")

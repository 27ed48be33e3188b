"""Take submissions in: plain Python files are copied by whitelist into a fresh folder, all else is left behind.

Nothing that a student hands in is followed, unpacked by its own word or believed about its size: a link could point to
the solutions, an archive could hold a petabyte. What is left behind although it looks like work is said in one line.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from autograder.course.archive import LeftOut, open_archive
from autograder.errors import UsageError
from autograder.proxies import clean

MAX_ENTRIES = 2000
MAX_FILES = 200
MAX_FILE_BYTES = 1 << 20
MAX_BYTES = 4 << 20
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\.py")
# Python or pytest load these by themselves where they find them. Nothing of the kit does; they are no work either.
RESERVED = {"conftest.py", "sitecustomize.py", "usercustomize.py"}


@dataclass(frozen=True)
class Submission:
    """One student's work as it was handed in: a name, and the folder or archive that holds the modules."""

    name: str
    path: Path


def find_submissions(folder: Path) -> list[Submission]:
    """The submissions in a folder of folders and zip archives, sorted by name.

    Raises:
        UsageError: if there is no such folder, or no submission in it.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. Name the folder that holds one folder per student")
    try:
        found = sorted(entry.name for entry in os.scandir(folder) if _looks_like_work(entry))
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be read ({error.strerror}). Look at its permissions: ls -ld {folder}"
        ) from None
    if not found:
        raise UsageError(f"{folder} holds no folders. A class is a folder with one folder per student: {folder}/ada/…")
    names = [name.removesuffix(".zip") for name in found]
    shown = [name if names.count(name) == 1 else whole for name, whole in zip(names, found, strict=True)]
    return [Submission(_safe_name(name), folder / whole) for name, whole in zip(shown, found, strict=True)]


def _looks_like_work(entry: "os.DirEntry[str]") -> bool:
    # A link to a folder counts: it is refused later, by name, instead of being missing from the gradebook.
    return not entry.name.startswith((".", "__")) and (entry.is_dir() or entry.name.endswith(".zip"))


def _safe_name(name: str) -> str:
    """The name as it can be shown and written; two names that would look alike stay apart."""
    safe = clean(name, 100).replace("\n", " ").replace("\t", " ")
    return safe if safe == name else f"{safe} {hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"


def take_in(submission: Submission, into: Path) -> list[str]:
    """Copy the submission's Python files into the empty folder `into`.

    Returns:
        What was left behind although it looks like work, one line each.
    """
    notes: list[str] = []
    seen: set[str] = set()
    size = 0
    try:
        for name, content in _contents(submission.path):
            shown = clean(name, 80)
            if isinstance(content, LeftOut):
                notes.append(f"{shown}: left out, {content}")
            elif name.casefold() in seen:  # the same file on some systems: which one is meant nobody knows
                notes.append(f"{shown}: left out, there are two files of that name")
            elif len(seen) >= MAX_FILES:
                raise LeftOut(f"{shown} and the rest: left out, there are more than {MAX_FILES} files")
            elif size + len(content) > MAX_BYTES:
                raise LeftOut(f"{shown} and the rest: left out, together they are larger than {MAX_BYTES >> 20} MiB")
            else:
                seen.add(name.casefold())
                size += len(content)
                (into / name).write_bytes(content)
    except OSError as error:
        notes.append(f"the submission cannot be read ({error.strerror or error})")
    except LeftOut as error:
        notes.append(str(error))
    return notes


def _contents(path: Path) -> Iterator[tuple[str, bytes | LeftOut]]:
    """Names and contents of the modules in a folder or archive; of what looks like one, why it is left out."""
    if stat.S_ISDIR(path.lstat().st_mode):
        yield from _folder(path)
    elif path.is_symlink():
        raise LeftOut("the submission is a link, and links are not followed")
    else:
        with open_plain(path) as file:
            yield from open_archive(file, _why_not, MAX_FILE_BYTES, MAX_ENTRIES)


def _why_not(name: str) -> str | None:
    """Why a file of this name is not taken, if it is not."""
    if name in RESERVED:
        return "a file of this name is not part of a submission"
    return None if MODULE.fullmatch(name) else "its name is not that of a module (letters, digits and _)"


def _folder(folder: Path) -> Iterator[tuple[str, bytes | LeftOut]]:
    names = []
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= MAX_ENTRIES:
                raise LeftOut(f"the submission has more than {MAX_ENTRIES} files and folders: left out")
            if entry.name.endswith(".py"):
                names.append(entry.name)
    for name in sorted(names):
        reason = _why_not(name)
        try:
            yield name, LeftOut(reason) if reason else _read(folder / name)
        except LeftOut as left:
            yield name, left
        except OSError as error:
            yield name, LeftOut("it is a link" if (folder / name).is_symlink() else error.strerror or str(error))


def _read(path: Path) -> bytes:
    with open_plain(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_FILE_BYTES:
            raise LeftOut(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
        return file.read(MAX_FILE_BYTES)


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file that has no other name, without following a link to it.

    It is looked at after it was opened, so that nothing can be exchanged in between.

    Raises:
        LeftOut: if it is something else.
    """
    # O_NONBLOCK: opening a named pipe must not wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        return file
    file.close()
    several = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    raise LeftOut("it is a hard link: the same file has another name" if several else "it is not a plain file")

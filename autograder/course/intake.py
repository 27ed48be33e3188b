"""Take submissions in: plain Python files are copied by whitelist into a fresh folder, all else is left behind."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError

MAX_FILES = 200
MAX_FILE_BYTES = 1 << 20


@dataclass(frozen=True)
class Submission:
    """One student's work as it was handed in: a name and the folder that holds the modules."""

    name: str
    folder: Path


def find_submissions(folder: Path) -> list[Submission]:
    """The submissions in a folder of folders, sorted by name.

    Raises:
        UsageError: if there is no such folder, or no folder in it.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. Name the folder that holds one folder per student")
    try:
        found = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be read ({error.strerror}). Look at its permissions: ls -ld {folder}"
        ) from None
    found = [name for name in found if not name.startswith((".", "__"))]
    if not found:
        raise UsageError(f"{folder} holds no folders. A class is a folder with one folder per student: {folder}/ada/…")
    return [Submission(name, folder / name) for name in found]


def take_in(submission: Submission, into: Path) -> list[str]:
    """Copy the submission's Python files into the empty folder `into`.

    Links, devices, folders, oversized files and everything that is not `*.py` stay behind. Files are opened without
    following links and looked at after opening, so that nothing can be exchanged in between.

    Returns:
        What was left behind although it looks like work, one line each.
    """
    notes: list[str] = []
    try:
        names = sorted(os.listdir(submission.folder))
    except OSError as error:
        return [f"the folder cannot be read ({error.strerror})"]
    modules = [name for name in names if name.endswith(".py")]
    for name in modules[MAX_FILES:]:
        notes.append(f"{name}: left out, there are more than {MAX_FILES} files")
    for name in modules[:MAX_FILES]:
        try:
            (into / name).write_bytes(_read_plain(submission.folder / name))
        except OSError as error:
            notes.append(f"{name}: left out, {error.strerror or error}")
        except ValueError as error:
            notes.append(f"{name}: left out, {error}")
    return notes


def _read_plain(path: Path) -> bytes:
    # O_NONBLOCK: opening a named pipe must not wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a plain file")
        if status.st_size > MAX_FILE_BYTES:
            raise ValueError(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
        return file.read(MAX_FILE_BYTES)

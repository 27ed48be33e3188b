"""Reading what lies in a folder that others work in; writing so that nobody ever sees half of a file."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal


def read_modules(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the Python files in a folder, in the order of the names.

    What is no plain file is left out: Emacs puts a broken link `.#softmax.py` beside what it edits. So is what vanishes
    in the moment in which it is read.
    """
    for path in sorted(folder.glob("*.py")):
        if path.is_file():
            with contextlib.suppress(FileNotFoundError):
                yield path.name, path.read_bytes()


def user_folder(variable: str, kind: Literal["cache", "data"]) -> Path | None:
    """The folder that an environment variable names, or the platform's for this; None for a user without a home."""
    if os.environ.get(variable):
        return Path(os.environ[variable])
    import platformdirs

    find = {"cache": platformdirs.user_cache_path, "data": platformdirs.user_data_path}[kind]
    try:
        found = find("headway", appauthor=False)
    except RuntimeError:
        return None
    return found if found.is_absolute() else None  # an older platformdirs: ~/.cache, and no ~


def write_atomically(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write `content` to `path`: the old file stays until the new one is whole.

    Args:
        path: a pipe or a device (/dev/stdout) is written into, not replaced.
        durable: on the disk when this returns, also if the power fails the moment after.

    Raises:
        OSError: if it cannot be written; nothing is left behind.
    """
    if path.exists() and (not path.is_file() or path.is_relative_to("/dev")):
        path.write_bytes(content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # as any new file, not only for its owner
        os.replace(temporary, path)
        if durable:
            _sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _sync_folder(folder: Path) -> None:
    """Put the new name of a file on the disk; where folders cannot be opened, the system does it by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

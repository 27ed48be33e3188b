"""Read files that others may be changing; write files atomically.

Every command imports this module, so it imports what takes milliseconds where it is used.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

from autograder.errors import UsageError


def read_modules(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each Python file in a folder, sorted by name.

    Anything but plain files is skipped (Emacs makes a broken link `.#softmax.py` while it edits softmax.py), and so are
    files that cannot be read.
    """
    for path in sorted(folder.glob("*.py")):
        with contextlib.suppress(OSError):
            content = read_plain_file(path)
            yield path.name, content


def lower_suffix(name: str) -> str:
    """Return a file name with its suffix in lower case: `SOFTMAX.PY` is a Python file, too."""
    stem, dot, suffix = name.rpartition(".")
    return stem + dot + suffix.lower() if stem else name


def read_plain_file(path: Path, max_bytes: int = -1) -> bytes:
    """Return the content, or the first bytes, of a plain file; raise OSError if it is a device or a blocking pipe."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    with open(descriptor, "rb") as file:
        content: bytes | None = file.read(max_bytes)
    if content is None:  # Some files below /proc are plain, but block like a pipe.
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    return content


def read_at(file: IO[bytes], start: int, count: int) -> bytes:
    """Return a part of a file that another process may be writing to."""
    # That process shares the descriptor's position, which os.pread does not move.
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), count, start)
    file.seek(start)
    return file.read(count)


def user_folder(variable: str, kind: Literal["cache", "data"]) -> Path | None:
    """Return the folder that an environment variable names, or else the platform's; None for a user without a home."""
    if os.environ.get(variable):
        return Path(os.environ[variable])
    import platformdirs

    platform_folder = {"cache": platformdirs.user_cache_path, "data": platformdirs.user_data_path}[kind]
    try:
        folder = platform_folder("headway", appauthor=False)
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None  # Older versions of platformdirs leave a "~" that has no meaning.


@contextlib.contextmanager
def secret_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder for code that no other submission may read, and remove it afterwards.

    Its name has 128 random bits: where the sandbox has no rules for files, the name is all that protects it.
    """
    import shutil
    import tempfile

    folder = (parent or Path(tempfile.gettempdir())) / f"headway-{os.urandom(16).hex()}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def report_read_error(path: Path | str, remedy: str = "") -> Iterator[None]:
    """Turn an error while the block reads `path` into a UsageError that says what to do next."""
    try:
        yield
    except OSError as error:
        remedy = remedy or f"Check its permissions: ls -ld {path}"
        raise UsageError(f"cannot read {path} ({error.strerror}). {remedy}") from None


@contextlib.contextmanager
def report_write_error(path: Path | str, remedy: str) -> Iterator[None]:
    """Turn an error while the block writes `path`, or replaces a file in it, into a UsageError as above."""
    try:
        yield
    except OSError as error:
        where = error.filename2 if isinstance(error.filename2, str) else path
        raise UsageError(f"cannot write {where} ({error.strerror or error}). {remedy}") from None


def write_atomically(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write `content` to `path`; the old file stays until the new one is complete. Pipes and devices are written to.

    A `durable` file is on the disk, safe from a power failure, when this returns.
    """
    with written_file(path, durable=durable) as file:
        file.write(content)


@contextlib.contextmanager
def written_file(path: Path, *, durable: bool = False, replaces_pipes: bool = False) -> Iterator[IO[bytes]]:
    """Provide a file for the block to write, which then takes the place of `path`, unless the block raised an error."""
    import tempfile

    if not replaces_pipes:
        if not durable and path.exists() and (not path.is_file() or path.is_relative_to("/dev")):
            with path.open("wb") as file:
                yield file
            return
        path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.umask(mask := os.umask(0))
        os.chmod(temporary, 0o666 & ~mask)  # The usual mode of a new file; mkstemp allows only its owner.
        os.replace(temporary, path)
        if durable and hasattr(os, "O_DIRECTORY"):  # Other systems write a file's new name to the disk by themselves.
            descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in a folder that must exist, and replace a pipe: writing to it could block forever."""
    with written_file(path, replaces_pipes=True) as file:
        file.write(content)


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return what differs after a file was replaced, as the functions above do it; empty if there is none."""
    try:
        status = path.lstat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size

"""Read a submission's folder without following links, even while its owner exchanges folders for links.

Checking a path before opening it is not enough: any folder on the way may be exchanged in between. So each folder is
opened relative to the one above it, and files are listed and opened relative to the open folder.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.core.archives import SkippedFile

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: opening a named pipe must not wait for a writer.
_FILE_FLAGS = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# Windows cannot open files relative to a folder. There, the way to a file is compared before and after it is opened.
HAS_DIRECTORY_DESCRIPTORS = bool(
    _NO_FOLLOW and hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd and os.scandir in os.supports_fd
)
_LINK_ERRORS = {errno.ELOOP, errno.EMLINK, errno.ENOTDIR}
_FOLDER_IS_LINK = "the submission is in a folder that is a link, and links are not followed"


class FolderReader:
    """A folder that was reached from the class's folder without following a link."""

    def __init__(self, path: Path, root: Path, descriptor: int | None) -> None:
        self._path, self._root, self._descriptor = path, root, descriptor

    def entries(self) -> "os._ScandirIterator[str]":
        """Return the iterator over the folder's entries, a context manager."""
        return os.scandir(self._path if self._descriptor is None else self._descriptor)

    def lstat(self, name: str) -> os.stat_result:
        """Return the status of an entry, or of the link if it is one."""
        if self._descriptor is None:
            return (self._path / name).lstat()
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

    def read_plain_file(self, name: str, max_bytes: int) -> bytes:
        """Return the content of a plain file that has no other name.

        Raises SkippedFile if it is something else, or larger than `max_bytes`.
        """
        before = None if self._descriptor is not None else _inodes(self._path / name, self._root)
        try:
            opened = os.open(
                name if self._descriptor is not None else self._path / name, _FILE_FLAGS, dir_fd=self._descriptor
            )
        except OSError as error:
            if error.errno in _LINK_ERRORS:
                raise SkippedFile("it is a link") from None
            raise
        with open(opened, "rb") as file:
            status = os.fstat(file.fileno())  # of the open file, so that nothing can be exchanged in between
            if not stat.S_ISREG(status.st_mode):
                raise SkippedFile("it is not a plain file")
            if status.st_nlink > 1:
                raise SkippedFile("it is a hard link: the same file has another name")
            if status.st_size > max_bytes:
                raise SkippedFile(f"it is larger than {max_bytes >> 20} MiB")
            if before and (before != _inodes(self._path / name, self._root) or before[-1] != status.st_ino):
                raise SkippedFile("it was exchanged while it was read")
            return file.read(max_bytes)


@contextmanager
def open_folder(path: Path, root: Path) -> Iterator[FolderReader]:
    """Open the folder `path`, without following a link between `root` and it.

    Args:
        root: a folder that only the instructor can change.

    Raises SkippedFile if a folder on the way is a link.
    """
    if not HAS_DIRECTORY_DESCRIPTORS:
        _inodes(path, root)
        yield FolderReader(path, root, None)
        return
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in path.relative_to(root).parts:
            above = descriptor
            try:
                descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW, dir_fd=above)
            except OSError as error:
                if error.errno in _LINK_ERRORS:
                    raise SkippedFile(_FOLDER_IS_LINK) from None
                raise
            os.close(above)
        yield FolderReader(path, root, descriptor)
    finally:
        os.close(descriptor)


def read_plain_file(path: Path, max_bytes: int, root: Path | None = None) -> bytes:
    """Return the content of a plain file that has no other name, without following a link between `root` and it.

    Args:
        root: a folder that only the instructor can change; by default the folder in which the file is.

    Raises SkippedFile if it is something else, or larger than `max_bytes`.
    """
    with open_folder(path.parent, root or path.parent) as folder:
        return folder.read_plain_file(path.name, max_bytes)


def _inodes(path: Path, root: Path) -> list[int]:
    """Return the inode of each folder between `root` and `path`, and that of `path`; raise SkippedFile at a link."""
    inodes = []
    for name in path.relative_to(root).parts:
        root /= name
        status = root.lstat()
        reparse_point = getattr(status, "st_reparse_tag", 0)  # Windows: a junction is one, and not a symbolic link
        if stat.S_ISLNK(status.st_mode) or reparse_point:
            raise SkippedFile("it is a link" if root == path else _FOLDER_IS_LINK)
        inodes.append(status.st_ino)
    return inodes

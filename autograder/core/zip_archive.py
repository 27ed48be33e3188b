"""Read a zip archive that somebody else made: nothing is unpacked to disk, and no size in it is believed."""

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

MAX_ARCHIVE_BYTES = 16 << 20
ENCRYPTED = 1


class SkippedFile(Exception):
    """Why a file, or the rest of a submission, is left behind."""


class Quota:
    """How much of something a submission may have, over all of its files and archives.

    Args:
        most: the number of it.
        too_much: why the rest is left out.
    """

    def __init__(self, most: int, too_much: str) -> None:
        self._left, self._too_much = most, too_much

    def take(self, amount: int = 1) -> None:
        """Use some of it up.

        Raises:
            SkippedFile: if there is less left.
        """
        self._left -= amount
        if self._left < 0:
            raise SkippedFile(f"the rest is left out, {self._too_much}")


def open_archive(
    file: BinaryIO,
    why_not: Callable[[str], str | None],
    max_bytes: Callable[[str], int],
    max_entries: int,
    unpacked: Quota,
) -> Iterator[tuple[str, bytes | SkippedFile]]:
    """Names and contents of the modules and notebooks at the top of an archive, or in the one folder that it holds.

    Args:
        why_not: why a file of that name is not taken, if it is not.
        max_bytes: by a file's name; a larger file is left out, and what is read of it is thrown away.
        max_entries: an archive with more is left out.
        unpacked: bytes that may be read of all archives together.

    Raises:
        SkippedFile: if it is no archive that can be read, or the allowance is used up.
    """
    if file.seek(0, 2) > MAX_ARCHIVE_BYTES:
        raise SkippedFile(f"the archive is larger than {MAX_ARCHIVE_BYTES >> 20} MiB: left out")
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > max_entries:
                raise SkippedFile(f"the archive has more than {max_entries} files and folders: left out")
            for entry in entries:
                *folders, name = entry.filename.split("/")
                if not name.endswith((".py", ".ipynb")) or folders[:1] == ["__MACOSX"]:
                    continue
                reason = _why_not_this(entry, folders) or why_not(name)
                yield name, SkippedFile(reason) if reason else _content(archive, entry, max_bytes(name), unpacked)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OverflowError) as error:
        raise SkippedFile(f"the archive cannot be read ({type(error).__name__}): left out") from None


def _why_not_this(entry: zipfile.ZipInfo, folders: list[str]) -> str | None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "it is a link or a device"
    if entry.flag_bits & ENCRYPTED:
        return "it is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is compressed in an unusual way"
    if len(folders) > 1 or any(part in ("", ".", "..") or ":" in part or "\\" in part for part in folders):
        return "it does not lie at the top of the archive or in its only folder"
    return None


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, max_bytes: int, unpacked: Quota) -> bytes | SkippedFile:
    with archive.open(entry) as stream:
        content = stream.read(max_bytes + 1)
    unpacked.take(len(content))
    return content if len(content) <= max_bytes else SkippedFile(f"it is larger than {max_bytes >> 20} MiB")

"""Read untrusted zip archives: nothing is unpacked to disk, and the sizes that an archive states are not trusted."""

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from autograder.core.files import lower_suffix

MAX_ARCHIVE_BYTES = 16 << 20


class SkippedFile(Exception):
    """A file, or the rest of a submission, is skipped; the text gives the reason."""


@dataclass
class Quota:
    """An amount that all files and archives of a submission share."""

    left: int
    reason: str  # why the rest is skipped once the amount is used up

    def use(self, amount: int = 1) -> None:
        """Use up some of the amount; raise `SkippedFile` if less is left."""
        self.left -= amount
        if self.left < 0:
            raise SkippedFile(f"the rest is left out, {self.reason}")


def read_archive(
    file: BinaryIO,
    why_not: Callable[[str], str | None],
    max_bytes: Callable[[str], int],
    max_entries: int,
    unpacked: Quota,
) -> Iterator[tuple[str, bytes | SkippedFile]]:
    """Yield name and content of the modules and notebooks at the top of an archive or in its only folder.

    `why_not` returns why a file of that name is skipped, or None. Raises SkippedFile if the archive cannot be read, or
    the quota of unpacked bytes is used up.
    """
    if file.seek(0, 2) > MAX_ARCHIVE_BYTES:
        raise SkippedFile(f"the archive is larger than {MAX_ARCHIVE_BYTES >> 20} MiB: left out")
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > max_entries:
                raise SkippedFile(f"the archive has more than {max_entries} files and folders: left out")
            for entry in entries:
                *folders, name = lower_suffix(entry.filename).split("/")
                if not name.endswith((".py", ".ipynb")) or folders[:1] == ["__MACOSX"]:
                    continue
                reason = _why_not_entry(entry, folders) or why_not(name)
                yield name, SkippedFile(reason) if reason else _content(archive, entry, max_bytes(name), unpacked)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OverflowError) as error:
        raise SkippedFile(f"the archive cannot be read ({type(error).__name__}): left out") from None


def why_not_readable(entry: zipfile.ZipInfo) -> str | None:
    """Return why the content of a file in an archive is not read, or None."""
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link or a device"
    if entry.flag_bits & 1:
        return "it is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is compressed in an unusual way"
    return None


def _why_not_entry(entry: zipfile.ZipInfo, folders: list[str]) -> str | None:
    if reason := why_not_readable(entry):
        return reason
    if len(folders) > 1 or any(part in ("", ".", "..") or ":" in part or "\\" in part for part in folders):
        return "it does not lie at the top of the archive or in its only folder"
    return None


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, max_bytes: int, unpacked: Quota) -> bytes | SkippedFile:
    with archive.open(entry) as stream:
        content = stream.read(max_bytes + 1)
    unpacked.use(len(content))
    return content if len(content) <= max_bytes else SkippedFile(f"it is larger than {max_bytes >> 20} MiB")

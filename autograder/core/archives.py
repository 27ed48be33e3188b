"""Read untrusted archives: nothing is unpacked to disk, and the sizes that an archive states are not trusted."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from autograder.core.files import lower_suffix

MAX_ARCHIVE_BYTES = 16 << 20
_OPENERS: Final[Mapping[str, Callable[[io.BytesIO], Any]]] = {
    ".gz": gzip.open, ".tgz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open,
}  # fmt: skip
SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


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
    name: str, content: bytes, max_bytes: Callable[[str], int], max_entries: int, unpacked: Quota
) -> Iterator[tuple[str, bytes | SkippedFile]]:
    """Yield the path in the archive and the content of each file, or the reason why it is not read.

    Args:
        name: the name of the archive, which says its kind: one of `SUFFIXES`.
        max_bytes: returns how large a file of a path may be; 0: it is not of interest, and its content is not read.

    Raises:
        SkippedFile: if the archive cannot be read, or the quota of unpacked bytes is used up.
    """
    if len(content) > MAX_ARCHIVE_BYTES:
        raise SkippedFile(f"the archive is larger than {MAX_ARCHIVE_BYTES >> 20} MiB")
    read = _read_zip if name.endswith(".zip") else _read_tar
    try:
        for count, (path, file) in enumerate(read(name, content, unpacked)):
            if count >= max_entries:
                raise SkippedFile(f"the archive has more than {max_entries} files")
            parts = [part for part in lower_suffix(path).replace("\\", "/").split("/") if part not in ("", ".")]
            if not parts or any(part.startswith((".", "__")) and part != ".." for part in parts):
                continue  # What systems and tools write: __MACOSX/, .ipynb_checkpoints/, ._softmax.py.
            if path.startswith(("/", "\\")) or ".." in parts or any(":" in part for part in parts):
                yield "/".join(parts), SkippedFile("its path leads out of the archive")
            elif isinstance(file, SkippedFile):
                yield "/".join(parts), file
            else:
                limit = max_bytes(parts[-1])
                data = file(limit + 1) if limit else b""
                unpacked.use(len(data))
                shown = f"{limit >> 20} MiB" if limit >> 20 else f"{limit >> 10} KiB"
                yield "/".join(parts), data if len(data) <= limit else SkippedFile(f"it is larger than {shown}")
    except (
        zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, RuntimeError,
        OverflowError,
    ) as error:  # fmt: skip
        raise SkippedFile(f"the archive cannot be read ({type(error).__name__})") from None


_Entries = Iterator[tuple[str, Callable[[int], bytes] | SkippedFile]]


def _read_zip(name: str, content: bytes, unpacked: Quota) -> _Entries:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            if reason := why_not_readable(entry):
                yield entry.filename, SkippedFile(reason)
            elif not entry.is_dir():

                def read(size: int, entry: zipfile.ZipInfo = entry) -> bytes:
                    with archive.open(entry) as stream:
                        return stream.read(size)

                # zipfile replaces what the system uses to separate folders, and cuts names at a null character.
                yield entry.filename, read


def _read_tar(name: str, content: bytes, unpacked: Quota) -> _Entries:
    opened = next((opener for suffix, opener in _OPENERS.items() if name.endswith(suffix)), None)
    file = io.BytesIO(content)
    with opened(file) if opened else file as stream:  # One read, so that no small archive can unpack to gigabytes.
        data = stream.read(unpacked.left + 1)
    if len(data) > unpacked.left:
        raise SkippedFile(f"the rest is left out, {unpacked.reason}")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for entry in archive:
            if entry.isfile():
                plain = archive.extractfile(entry)
                assert plain is not None  # It is a plain file.
                yield entry.name, plain.read
            elif not entry.isdir():
                yield entry.name, SkippedFile("it is a link or a device")


def why_not_readable(entry: zipfile.ZipInfo) -> str | None:
    """Return why the content of a file in an archive is not read, or None."""
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link or a device"
    if entry.flag_bits & 1:
        return "it is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is compressed in an unusual way"
    return None

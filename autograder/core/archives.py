"""Read untrusted archives: nothing is unpacked to disk, and stated sizes are not trusted. Write archives of our own."""

import gzip
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import Literal

from autograder.core.files import lower_suffix

MAX_ARCHIVE_BYTES = 16 << 20
SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz")


class SkippedFile(Exception):
    """A file, or the rest of a submission, is skipped; the text gives the reason."""


class ToolFiles(SkippedFile):
    """A hidden file or a folder in which tools keep theirs, such as `.git` or `__MACOSX`."""

    def __init__(self) -> None:
        super().__init__("programs keep their own files there")


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
    of_tools = set[str]()
    try:
        for path, file in read(name, content, max_entries, unpacked):
            parts = [part for part in lower_suffix(path).replace("\\", "/").split("/") if part not in ("", ".")]
            hidden = next((i for i, part in enumerate(parts, 1) if part.startswith((".", "__")) and part != ".."), 0)
            if hidden:
                shown = "/".join(parts[:hidden]) + "/" * (hidden < len(parts))
                if shown not in of_tools:
                    yield shown, ToolFiles()
                of_tools.add(shown)
            elif not parts:
                continue
            elif path.startswith(("/", "\\")) or ".." in parts or any(":" in part for part in parts):
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
        zipfile.BadZipFile, tarfile.TarError, zlib.error, OSError, EOFError, ValueError, RuntimeError,
        OverflowError,
    ) as error:  # fmt: skip
        raise SkippedFile(f"the archive cannot be read ({type(error).__name__})") from None


_Entries = Iterator[tuple[str, Callable[[int], bytes] | SkippedFile]]


def _require_few(entries: Sized, most: int) -> None:
    if len(entries) > most:
        raise SkippedFile(f"the archive has more than {most} files and folders")


def _read_zip(name: str, content: bytes, max_entries: int, unpacked: Quota) -> _Entries:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _require_few(archive.infolist(), max_entries)
        for entry in archive.infolist():
            if reason := why_not_readable(entry):
                yield entry.filename, SkippedFile(reason)
            elif entry.filename and not entry.is_dir():

                def read(size: int, entry: zipfile.ZipInfo = entry) -> bytes:
                    with archive.open(entry) as stream:
                        return stream.read(size)

                # zipfile replaces what the system uses to separate folders, and cuts names at a null character.
                yield entry.filename, read


def _read_tar(name: str, content: bytes, max_entries: int, unpacked: Quota) -> _Entries:
    file = io.BytesIO(content)
    with file if name.endswith(".tar") else gzip.open(file) as stream:
        # One read, so that no small archive can unpack to gigabytes.
        data = stream.read(unpacked.left + 1)
    if len(data) > unpacked.left:
        raise SkippedFile(f"the rest is left out, {unpacked.reason}")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        _require_few(archive.getmembers(), max_entries)
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


def tar_of(files: Mapping[str, bytes], mode: Literal["w", "w:gz"]) -> bytes:
    """Return a tar archive, compressed or not."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def zip_of(files: Mapping[str, bytes], executable: Collection[str] = ()) -> bytes:
    """Return a zip archive whose bytes depend on the files alone, of which some are executable."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return content.getvalue()

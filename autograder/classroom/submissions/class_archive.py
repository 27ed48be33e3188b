"""Unpack the download of a class, a .zip archive of Canvas, Moodle or Gradescope, into a temporary folder.

The archive is untrusted, because students choose the names and the contents of files in it. Nothing is written outside
the folder. A file that is too large for a submission is written without its content; reading the submission then
reports its size. Each student has a limit, so that one student's files cannot keep other students' files from being
unpacked.
"""

import contextlib
import errno
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import IO

from autograder.classroom.submissions import intake, lms_downloads
from autograder.classroom.submissions.model import Source, is_gradable
from autograder.core.files import lower_suffix
from autograder.core.text import clean
from autograder.core.zip_archive import MAX_ARCHIVE_BYTES, SkippedFile, why_not_readable
from autograder.curriculum import Curriculum
from autograder.errors import UsageError

MAX_ENTRIES = 200_000
MAX_UNPACKED_BYTES = 4 << 30
MAX_RATIO = 100  # of the unpacked to the packed size; it counts from SMALL_BYTES on
SMALL_BYTES = 256 << 20
MAX_DEPTH = 8  # Submissions are read at the top of a student's folder, and no deeper than this in any layout.
MAX_WARNINGS = 20
IS_WINDOWS = os.name == "nt"
_BLOCK = 1 << 16
# Files that Headway reads; the content of any other file is not needed.
_READ_SUFFIXES = (".py", ".ipynb", ".zip", ".yml", ".csv", ".txt")
# "lovelaceada_4021_" of Canvas, "Ada Lovelace_18_" of Moodle.
_STUDENT = re.compile(r".+?_\d+_(?=\d+_|assignsubmission_)", re.DOTALL)
_WRONG_NAME_ERRORS = {errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}
# Names that Windows cannot write: with certain characters, with a dot or a blank at the end, or of a device.
_WINDOWS_NAME = re.compile(
    r'.*[<>:"|?*\x00-\x1f].*|.*[. ]|(con|prn|aux|nul|com\d|lpt\d)(\..*)?', re.IGNORECASE | re.DOTALL
)
_AGAIN = "Download the submissions again"


@contextlib.contextmanager
def unpacked(sources: Sequence[Source], curriculum: Curriculum) -> Iterator[tuple[list[Source], list[str]]]:
    """Unpack the archives of sources while the block runs.

    Yields the sources, with the folders in which their submissions are, and warnings about files that were left out.
    A source may be an archive, or a folder that holds a platform's archive, beside which Moodle's worksheet may lie.
    """
    with contextlib.ExitStack() as stack:
        found, warnings = list[Source](), list[str]()
        for source in sources:
            archive = source.folder if source.folder.is_file() else _download_in(source.folder, curriculum)
            if archive is None or not lower_suffix(archive.name).endswith(".zip"):
                found.append(source)
                continue
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headway-"))).resolve()
            folder = scratch / "submissions"
            folder.mkdir(mode=0o700)
            warnings += unpack(archive, folder)
            folder = _students_folder(folder, curriculum)
            if archive != source.folder:
                for path in source.folder.glob("*.csv"):
                    shutil.copyfile(path, folder / path.name)
            found.append(replace(source, unpacked=folder))
        yield found, warnings


def download_kind(path: Path, curriculum: Curriculum) -> str:
    """Return the platform whose download an archive is, or a folder that holds only the archive; '' if it is none."""
    archive = path if path.is_file() else _download_in(path, curriculum)
    return _platform_of(archive, curriculum) if archive else ""


def _download_in(folder: Path, curriculum: Curriculum) -> Path | None:
    """Return the platform's archive in a folder that holds no other submissions, or None."""
    if not folder.is_dir():
        return None
    names = lms_downloads.submission_names(folder)
    submitted = [folder / name for name in names if is_gradable(name) or (folder / name).is_dir()]
    if len(submitted) == 1 and submitted[0].is_file() and _platform_of(submitted[0], curriculum):
        return submitted[0]
    return None


def _platform_of(archive: Path, curriculum: Curriculum) -> str:
    """Return the platform that gave an archive its names, or ''."""
    if not lower_suffix(archive.name).endswith(".zip"):
        return ""
    try:
        with zipfile.ZipFile(archive) as file:
            paths = [name.split("/") for name in file.namelist()[:MAX_ENTRIES] if not name.startswith("__MACOSX/")]
    except (OSError, zipfile.BadZipFile, ValueError, RuntimeError):
        return ""
    for depth in range(3):  # An instructor may have unpacked the download and packed its folder again.
        names = sorted({path[depth] for path in paths if len(path) > depth and path[depth]})
        if kind := lms_downloads.download_kind(archive, [name for name in names if name[-4:] != ".csv"], curriculum):
            return kind
        if len(names) != 1:
            break
    return ""


def _students_folder(folder: Path, curriculum: Curriculum) -> Path:
    """Return the only folder in the unpacked one, unless it is a student's or a platform has made it."""
    only = lms_downloads.unwrap_folder(folder)
    is_student = any((only / f"{module}.py").is_file() for module in curriculum.modules)
    return folder if is_student or lms_downloads.is_platform_folder(only.name) else only


def unpack(archive: Path, folder: Path) -> list[str]:
    """Unpack an archive into an empty folder; return a warning for each file that was left out.

    Raises:
        UsageError: if it is damaged or too large, or names a place outside the folder.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            entries = file.infolist()
            if len(entries) > MAX_ENTRIES:
                raise UsageError(f"{archive} has more than {MAX_ENTRIES:,} files. {_AGAIN}")
            return _Unpacking(archive, folder).run(file, entries)
    except OSError as error:
        place = error.filename or archive
        raise UsageError(f"cannot unpack {archive} ({place}: {error.strerror}). Check the space that is left") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OverflowError) as error:
        raise UsageError(f"{archive} is damaged or not a .zip archive ({clean(str(error), 120)}). {_AGAIN}") from None


class _Unpacking:
    """The state of unpacking one archive."""

    def __init__(self, archive: Path, folder: Path) -> None:
        self._archive, self._folder = archive, folder
        self._left = min(MAX_UNPACKED_BYTES, max(SMALL_BYTES, MAX_RATIO * archive.stat().st_size))
        self._size_by_owner, self._count_by_owner = Counter[str](), Counter[str]()
        self._left_out: dict[str, str] = {}

    def run(self, file: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo]) -> list[str]:
        """Unpack the entries and return the warnings."""
        placed = [(entry, parts) for entry in entries if (parts := self._parts(entry)) and parts[0] != "__MACOSX"]
        paths = [parts if entry.is_dir() else parts[:-1] for entry, parts in placed]
        # Folders that contain all entries do not belong to a student.
        common = len(list(takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))))
        for entry, parts in placed:
            if len(parts) > MAX_DEPTH:
                continue
            try:
                self._unpack(file, entry, parts, owner=_owner(parts[: common + 1]))
            except SkippedFile as reason:
                self._left_out[_shown(entry)] = str(reason)
        warnings = [f"{self._archive}: {name}: left out, {reason}" for name, reason in self._left_out.items()]
        if len(warnings) > MAX_WARNINGS:
            rest = len(warnings) - MAX_WARNINGS
            warnings = [*warnings[:MAX_WARNINGS], f"{self._archive}: {rest} more files were left out"]
        return warnings

    def _parts(self, entry: zipfile.ZipInfo) -> tuple[str, ...]:
        """Return the parts of an entry's path below the folder."""
        parts = tuple(part for part in entry.filename.split("/") if part not in ("", "."))
        if entry.filename.startswith("/") or ".." in parts:
            problem = f"{self._archive} contains {_shown(entry)}, a path outside its folder"
            raise UsageError(f"{problem}. No platform writes such an archive. {_AGAIN}")
        return parts

    def _unpack(self, file: zipfile.ZipFile, entry: zipfile.ZipInfo, parts: tuple[str, ...], owner: str) -> None:
        """Unpack one entry, which a student has submitted; raise SkippedFile if it is left out."""
        self._count_by_owner[owner] += len(parts) > 1
        if self._count_by_owner[owner] > intake.MAX_ENTRIES + 1:
            return  # One more than a submission may have: reading it reports the number.
        if reason := _why_not(entry, parts):
            raise SkippedFile(reason)
        path = self._folder.joinpath(*parts)
        try:
            (path if entry.is_dir() else path.parent).mkdir(parents=True, exist_ok=True, mode=0o700)
            if entry.is_dir():
                return
            with path.open("xb") as target, file.open(entry) as content:
                if entry.file_size > MAX_ARCHIVE_BYTES:
                    target.truncate(MAX_ARCHIVE_BYTES + 1)
                elif lower_suffix(parts[-1]).endswith(_READ_SUFFIXES):
                    self._copy(content, target, owner)
        except (FileExistsError, NotADirectoryError):
            raise UsageError(f"{self._archive} contains {_shown(entry)} twice. {_AGAIN}") from None
        except SkippedFile:
            path.unlink()
            raise
        except OSError as error:
            if error.errno in _WRONG_NAME_ERRORS:
                raise SkippedFile(f"its name cannot be written ({error.strerror})") from None
            raise

    def _copy(self, content: IO[bytes], target: IO[bytes], owner: str) -> None:
        """Copy a file, of which `zipfile` reads no more than the size that the archive states."""
        while block := content.read(_BLOCK):
            self._left -= len(block)
            self._size_by_owner[owner] += len(block)
            if self._left < 0:
                limit = f"{MAX_UNPACKED_BYTES >> 30} GiB, or to more than {MAX_RATIO} times its size"
                raise UsageError(f"{self._archive} unpacks to more than {limit}. {_AGAIN}")
            if self._size_by_owner[owner] > intake.MAX_RAW_BYTES:
                raise SkippedFile(f"the files of one student are larger than {intake.MAX_RAW_BYTES >> 20} MiB together")
            target.write(block)


def _owner(parts: tuple[str, ...]) -> str:
    """Return the student's folder, or the beginning of a file's name that tells students apart on platforms."""
    *folders, name = parts
    match = _STUDENT.match(name)
    return "/".join([*folders, match[0] if match else name])


def _why_not(entry: zipfile.ZipInfo, parts: tuple[str, ...]) -> str | None:
    """Return why an entry is not unpacked, or None."""
    if "\\" in entry.filename or re.match("[A-Za-z]:", entry.filename):
        return "its name is a Windows path"
    if IS_WINDOWS and any(map(_WINDOWS_NAME.fullmatch, parts)):
        return "Windows cannot write its name"
    return None if entry.is_dir() else why_not_readable(entry)


def _shown(entry: zipfile.ZipInfo) -> str:
    return repr(clean(entry.filename, 120))

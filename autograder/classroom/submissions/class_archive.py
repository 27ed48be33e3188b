"""Unpack the download of a class, a .zip archive of Canvas, Moodle or Gradescope, into a temporary folder.

The archive is untrusted, because students choose the names and the contents of files in it. Nothing is written outside
the folder. A file that is too large for a submission is written without its content; reading the submission then
reports its size. Each file counts toward the limit of a student, or has one of its own, and the archive has a limit. If
it is exceeded, the largest submissions are left out, so that nobody's files keep those of others from being graded.
"""

import contextlib
import errno
import itertools
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom.submissions import intake, lms_downloads
from autograder.classroom.submissions.model import Source, is_gradable
from autograder.core.archives import MAX_ARCHIVE_BYTES, SkippedFile, why_not_readable
from autograder.core.files import lower_suffix
from autograder.core.text import clean
from autograder.course import Curriculum
from autograder.errors import UsageError

MAX_ENTRIES = 200_000
MAX_UNPACKED_BYTES = 4 << 30
MAX_RATIO = 100  # of the unpacked to the packed size; it counts from SMALL_BYTES on
SMALL_BYTES = 256 << 20
MAX_DEPTH = 8  # Submissions are read at the top of a student's folder, and no deeper than this in any layout.
MAX_WARNINGS = 20
IS_WINDOWS = os.name == "nt"
BYTES_PER_ENTRY = 4096  # what a file takes on a disk, even if it is empty
_PLATFORM_FILES = ("submission_metadata.yml", "timestamp.txt")  # of Gradescope and nbgrader
_WRONG_NAME_ERRORS = {errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}
# Names that Windows cannot write: with certain characters, with a dot or a blank at the end, or of a device.
_WINDOWS_NAME = re.compile(
    r'.*[<>:"|?*\x00-\x1f].*|.*[. ]|(con|prn|aux|nul|com\d|lpt\d)(\..*)?', re.IGNORECASE | re.DOTALL
)
_AGAIN = "Download the submissions again"
_LARGEST = "the largest are left out. To grade them, too, unpack it yourself and name the folder"


@contextlib.contextmanager
def unpacked(sources: Sequence[Source], curriculum: Curriculum) -> Iterator[tuple[list[Source], list[str]]]:
    """Unpack the archives of sources while the block runs.

    Yields the sources, with the folders in which their submissions are, and warnings about files that were left out.
    A source may be an archive, or a folder that holds a platform's archive, beside which Moodle's worksheet may lie.
    """
    with contextlib.ExitStack() as stack:
        found, warnings = list[Source](), list[str]()
        for source in sources:
            archive = source.folder if source.folder.is_file() else _download_in(source.folder)
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


def download_kind(path: Path) -> str:
    """Return the platform whose download is a folder, an archive, or the archive in a folder; '' if there is none."""
    if path.is_dir() and (kind := lms_downloads.download_kind(path, lms_downloads.submission_names(path))):
        return kind
    archive = path if path.is_file() else _download_in(path)
    return _platform_of(archive) if archive else ""


def _download_in(folder: Path) -> Path | None:
    """Return the platform's archive in a folder that holds no other submissions, or None."""
    if not folder.is_dir():
        return None
    names = lms_downloads.submission_names(folder)
    submitted = [folder / name for name in names if is_gradable(name) or (folder / name).is_dir()]
    if len(submitted) == 1 and submitted[0].is_file() and _platform_of(submitted[0]):
        return submitted[0]
    return None


def _platform_of(archive: Path) -> str:
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
        if kind := lms_downloads.download_kind(archive, [name for name in names if name[-4:] != ".csv"]):
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

    Raises UsageError if it is damaged, or names a place outside the folder.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            return _Unpacking(archive, folder).run(file, file.infolist())
    except OSError as error:
        place = error.filename or archive
        raise UsageError(f"cannot unpack {archive} ({place}: {error.strerror}). Check the space that is left") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OverflowError) as error:
        raise UsageError(f"{archive} is damaged or not a .zip archive ({clean(str(error), 120)}). {_AGAIN}") from None


@dataclass(frozen=True)
class _ArchiveEntry:
    """An entry of the archive, below the folder, and the account that pays for it: a student's, or its own."""

    info: zipfile.ZipInfo
    parts: tuple[str, ...]
    account: tuple[str, ...]
    is_unclear: bool  # Its name may be another student's choice, so it takes only what clear names leave.
    in_folder: bool  # It is in the folder of a submission.

    @property
    def content_size(self) -> int:
        """Return how many bytes are unpacked: `zipfile` reads no more than the size that the archive states."""
        name = self.parts[-1]
        is_needed = intake.max_bytes(name) or name in _PLATFORM_FILES or name.lower().endswith(".csv")
        return self.info.file_size if is_needed and self.info.file_size <= self.most_bytes else 0

    @property
    def most_bytes(self) -> int:
        """Return how large the file may be; of a larger one, only the size is unpacked, so that reading it says so."""
        return max(MAX_ARCHIVE_BYTES, intake.max_bytes(self.parts[-1]))


class _Unpacking:
    def __init__(self, archive: Path, folder: Path) -> None:
        self._archive, self._folder = archive, folder
        self._left_out: dict[str, list[str]] = defaultdict(list)  # warnings, by the account of the file
        self._files, self._folders = set[tuple[str, ...]](), set[tuple[str, ...]]()

    def run(self, file: zipfile.ZipFile, infos: Sequence[zipfile.ZipInfo]) -> list[str]:
        placed = [(info, parts) for info in infos if (parts := self._parts(info)) and parts[0] != "__MACOSX"]
        depth = len(_class_folder([(parts, info.is_dir()) for info, parts in placed]))
        entries = [_entry(info, parts, depth) for info, parts in placed if len(parts) <= MAX_DEPTH]
        for entry in self._choose(entries):
            try:
                self._unpack(file, entry)
            except SkippedFile as reason:
                self._leave_out([entry], str(reason))
        return self._warnings()

    def _parts(self, info: zipfile.ZipInfo) -> tuple[str, ...]:
        """Return the parts of an entry's path below the folder."""
        parts = tuple(part for part in info.filename.replace("\\", "/").split("/") if part not in ("", "."))
        if info.filename.startswith(("/", "\\")) or ".." in parts:
            problem = f"{self._archive} contains {_shown(info)}, a path outside its folder"
            raise UsageError(f"{problem}. No platform writes such an archive. {_AGAIN}")
        return parts

    def _choose(self, entries: Sequence[_ArchiveEntry]) -> list[_ArchiveEntry]:
        """Return the entries within the limits: first those of each account, then those of the archive."""
        by_account: dict[tuple[str, ...], list[_ArchiveEntry]] = defaultdict(list)
        for entry in sorted(entries, key=lambda entry: entry.is_unclear):
            by_account[entry.account].append(entry)
        accounts = [self._within_account(listed) for listed in by_account.values()]
        limit = bytes_left = min(MAX_UNPACKED_BYTES, max(SMALL_BYTES, MAX_RATIO * self._archive.stat().st_size))
        entries_left = MAX_ENTRIES
        reason = f"the archive unpacks to more than {limit >> 20} MiB or {MAX_ENTRIES:,} files; {_LARGEST}"
        chosen: list[_ArchiveEntry] = []
        for listed in sorted(accounts, key=_order):
            bytes_left -= _cost(listed)
            entries_left -= len(listed)
            if min(bytes_left, entries_left) < 0:
                self._leave_out(listed, reason)
            else:
                chosen += listed
        return chosen

    def _within_account(self, entries: Sequence[_ArchiveEntry]) -> list[_ArchiveEntry]:
        size = count = 0
        chosen = []
        for entry in entries:
            count += entry.in_folder
            if count > intake.MAX_ENTRIES + 1:
                break  # One more than a submission may have: reading it reports the number.
            if size + entry.content_size > intake.MAX_RAW_BYTES:
                limit = f"{intake.MAX_RAW_BYTES >> 20} MiB"
                self._leave_out([entry], f"the files of one student are larger than {limit} together")
                continue
            size += entry.content_size
            chosen.append(entry)
        return chosen

    def _leave_out(self, entries: Sequence[_ArchiveEntry], reason: str) -> None:
        for entry in entries:
            self._left_out["/".join(entry.account)].append(f"{self._archive}: {_shown(entry.info)}: left out, {reason}")

    def _warnings(self) -> list[str]:
        """Return the warnings, of which one of each account comes first: nobody's files hide those of another."""
        rounds = itertools.zip_longest(*self._left_out.values())
        warnings = [warning for some in rounds for warning in some if warning]
        if (rest := len(warnings) - MAX_WARNINGS) > 0:
            warnings[MAX_WARNINGS:] = [f"{self._archive}: {rest} more files were left out"]
        return warnings

    def _unpack(self, file: zipfile.ZipFile, entry: _ArchiveEntry) -> None:
        """Unpack one entry; raise SkippedFile if it is left out."""
        info, parts = entry.info, entry.parts
        if reason := _why_not(info, parts):
            raise SkippedFile(reason)
        path = self._folder.joinpath(*parts)
        above = {parts[:count] for count in range(1, len(parts))}
        if parts in self._files or above & self._files or (parts in self._folders and not info.is_dir()):
            raise UsageError(f"{self._archive} contains {_shown(info)} twice. {_AGAIN}")
        self._folders |= above | ({parts} if info.is_dir() else set())
        try:
            (path if info.is_dir() else path.parent).mkdir(parents=True, exist_ok=True, mode=0o700)
            if info.is_dir():
                return
            self._files.add(parts)
            with path.open("xb") as target, file.open(info) as content:
                if info.file_size > entry.most_bytes:
                    target.truncate(entry.most_bytes + 1)
                elif entry.content_size:
                    shutil.copyfileobj(content, target)
        except (FileExistsError, NotADirectoryError):
            # The names differ, but not for this system: "a.py" and "A.py" on macOS. A student may have chosen both.
            raise SkippedFile("this system does not distinguish its name from another one") from None
        except UnicodeEncodeError:
            raise SkippedFile("this system cannot write its name") from None
        except OSError as error:
            if error.errno in _WRONG_NAME_ERRORS:
                raise SkippedFile(f"its name cannot be written ({error.strerror})") from None
            raise


def _entry(info: zipfile.ZipInfo, parts: tuple[str, ...], depth: int) -> _ArchiveEntry:
    """Return an entry with its account; the students' folders and files are `depth` folders below the top."""
    in_folder = len(parts) > depth + 1
    name = parts[: depth + 1][-1]
    student, is_unclear = lms_downloads.student_in_name(name, is_folder=in_folder or info.is_dir())
    return _ArchiveEntry(info, parts, (*parts[:depth], student or name)[: depth + 1], is_unclear, in_folder)


def _class_folder(paths: Sequence[tuple[tuple[str, ...], bool]]) -> tuple[str, ...]:
    """Return the path of the folder that holds the students' files: a platform's, or the only one at its level."""
    folder: tuple[str, ...] = ()
    while len(folder) < MAX_DEPTH:
        depth = len(folder)
        below = [(path, is_dir) for path, is_dir in paths if path[:depth] == folder and len(path) > depth]
        names = {path[depth] for path, is_dir in below if is_dir or len(path) > depth + 1}
        from_platform = sorted(filter(lms_downloads.is_platform_folder, names))
        alone = sorted(name for name in names if not name.startswith((".", "__")))
        if any(is_gradable(path[depth]) for path, is_dir in below if len(path) == depth + 1 and not is_dir):
            alone = []
        only = from_platform or alone
        if len(only) != 1:
            break
        folder = (*folder, only[0])
    return folder


def _cost(entries: Sequence[_ArchiveEntry]) -> int:
    return sum(entry.content_size + BYTES_PER_ENTRY for entry in entries)


def _order(entries: Sequence[_ArchiveEntry]) -> tuple[bool, int]:
    """Return the key by which accounts are sorted: without the platform's own file, no submission could be read."""
    return not any(entry.account[-1] in _PLATFORM_FILES for entry in entries), _cost(entries)


def _why_not(entry: zipfile.ZipInfo, parts: tuple[str, ...]) -> str | None:
    if re.match("[A-Za-z]:", entry.filename):
        return "its name is a Windows path"
    if IS_WINDOWS and any(map(_WINDOWS_NAME.fullmatch, parts)):
        return "Windows cannot write its name"
    return None if entry.is_dir() else why_not_readable(entry)


def _shown(entry: zipfile.ZipInfo) -> str:
    return repr(clean(entry.filename, 120))

"""The bulk downloads of learning platforms, as they come out of the archive, and nbgrader's `submitted/`.

Each function turns a folder into students, or answers None where the folder is not of its kind.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from autograder.classroom.submissions.intake import MAX_ENTRIES, read_plain_file
from autograder.classroom.submissions.model import SUBMISSION_SUFFIXES, Attempt, ClassMember, SubmissionPart, safe_name
from autograder.core.zip_archive import SkippedFile
from autograder.curriculum import Curriculum
from autograder.errors import UsageError, missing_package

# "lovelaceada_LATE_4021_99871_softmax-1.py": sortable name in lower case without spaces, LATE, user id, file id, the
# file's own name; anonymous: "LATE_anon_x7Qz2_99871_softmax.py".
_CANVAS = re.compile(
    r"(?:(?P<user>(?!anon_)(?!LATE_).+?)_)?(?P<late>LATE_)?(?P<id>\d+|anon_\w+?)_(?P<file>\d+)_(?P<name>[^/]+)"
)
_AGAIN = re.compile(r"-(\d{1,3})(?=\.\w+$)")
# "Ada Lovelace_1234_assignsubmission_file", with "_" at the end before Moodle 4.1; the files themselves with their
# names behind it where "Download submissions in folders" is off. The first number counts: what comes after it the
# student may have chosen, another student's number too.
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>[^/]+)|_?)")


def canvas(folder: Path, names: list[str], curriculum: Curriculum) -> list[ClassMember] | None:
    """The unpacked archive of Canvas's "Download Submissions".

    Its names are made in `ContentZipper#get_filename` and `#add_upload_submission`
    (github.com/instructure/canvas-lms, lib/content_zipper.rb): `[name, LATE, user id].join("_")`, then `_`, the
    attachment's id, `_` and its display name. A file that was handed in again under its old name is displayed as
    `softmax-1.py`. The archive holds the last attempt; a file that is there twice is taken in its later version.
    """
    files = {name: match for name in names if (match := _CANVAS.fullmatch(name))}
    work = [name for name in names if name.endswith(SUBMISSION_SUFFIXES)]
    if not files or len(files) * 2 < len(work):
        return None
    people: dict[str, list[str]] = defaultdict(list)
    for name, match in files.items():
        people[match["id"]].append(name)
    students = []
    for person, theirs in sorted(people.items()):
        chosen: dict[str, str] = {}
        # Attachment ids grow: the later version of a file has the higher one.
        for name in sorted(theirs, key=lambda name: int(files[name]["file"])):
            chosen[_AGAIN.sub("", files[name]["name"])] = name
        parts = tuple(
            SubmissionPart(folder / name, own) for own, name in chosen.items() if own.endswith(SUBMISSION_SUFFIXES)
        )
        user = next((files[name]["user"] or "" for name in theirs), "")
        shown = f"{user}_{person}" if user else person
        late = any(files[name]["late"] for name in theirs)
        students.append(ClassMember(safe_name(shown), user, person, attempts=(Attempt(parts, late=late),)))
    return students


def moodle(folder: Path, names: list[str], curriculum: Curriculum) -> list[ClassMember] | None:
    """The unpacked archive of Moodle's "Download all submissions", in folders or not.

    Its names are made in `downloader::get_student_prefix` and `load_submissionplugin_filelist`
    (github.com/moodle/moodle, mod/assign/classes/downloader.php): full name, `_`, the participant's number, `_`,
    `assignsubmission`, `_`, the plugin's type. Texts typed into Moodle (`onlinetext`) are left behind.
    """
    found = {name: match for name in names if (match := _MOODLE.fullmatch(name))}
    others = [
        name for name in names if name not in found and (name.endswith(SUBMISSION_SUFFIXES) or (folder / name).is_dir())
    ]
    if len(found) <= len(others):  # one name that somebody chose says nothing about a class
        return None
    people: dict[tuple[str, str], list[SubmissionPart]] = defaultdict(list)
    for name, match in found.items():
        mine = people[match["name"], match["id"]]
        if match["kind"] == "file":
            mine += (
                _parts_of(folder / name) if match["file"] is None else [SubmissionPart(folder / name, match["file"])]
            )
    return [
        ClassMember(safe_name(f"{name}_{number}"), name, number, attempts=(Attempt(tuple(parts)),))
        for (name, number), parts in sorted(people.items())
    ]


def gradescope(folder: Path, names: list[str], curriculum: Curriculum) -> list[ClassMember] | None:
    """The unpacked archive of Gradescope's "Export Submissions": `submission_metadata.yml` and `submission_NNN/`.

    The index has Ruby's symbols for keys: per submission `:submitters:` (each `:name:`, `:sid:`, `:email:`) and
    `:created_at:` ("2026-04-26 17:34:00.861687000 Z"). A group's work counts for each of its members; several
    submissions of one student are attempts.
    """
    if "submission_metadata.yml" not in names:
        inner = [name for name in names if re.fullmatch(r"assignment_\d+_export", name)]
        if len(inner) != 1:
            return None
        folder = folder / inner[0]
    index = _index(folder / "submission_metadata.yml")
    if index is None:
        return None
    people: dict[str, list[tuple[datetime | None, Path]]] = defaultdict(list)
    details: dict[str, dict[str, str]] = {}
    for name, record in index.items():
        where = folder / Path(str(name)).name
        listed = record.get(":submitters") if isinstance(record, dict) else None
        submitters = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        when = moment(str(record.get(":created_at", ""))) if isinstance(record, dict) else None
        for person in submitters:
            fields = {str(key).strip(":"): str(value or "") for key, value in person.items()}
            key = fields.get("sid") or fields.get("email") or fields.get("name") or where.name
            details[key] = fields
            people[key].append((when, where))
        if not submitters:
            details[where.name] = {}
            people[where.name].append((when, where))
    students = []
    for key, submissions in sorted(people.items()):
        submissions.sort(key=lambda one: (one[0] or datetime.min.replace(tzinfo=UTC), one[1].name))
        attempts = tuple(
            Attempt(tuple(_parts_of(where)), {} if when is None else {"": when}) for when, where in submissions
        )
        known = details[key]
        students.append(
            ClassMember(safe_name(key), known.get("name", ""), known.get("sid", ""), known.get("email", ""), attempts)
        )
    return students


def _index(path: Path) -> dict[str, object] | None:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return None
    try:
        import yaml
    except ImportError:
        raise missing_package(f"reading {path.name} needs PyYAML", "class") from None
    # The base loader leaves everything as text: a student number keeps its zeros, and nothing is constructed.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        index = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise UsageError(f"{path}{line}: this is not YAML. Download the submissions from Gradescope again") from None
    return index if isinstance(index, dict) else None


def nbgrader(folder: Path, names: list[str], curriculum: Curriculum) -> list[ClassMember] | None:
    """nbgrader's `submitted/{student_id}/{assignment_id}/…`, with `timestamp.txt` beside the work.

    The structure is described in "The philosophy of nbgrader" (nbgrader.readthedocs.io, section "File/directory
    structure of nbgrader"); the time of submission, "2015-02-02 15:58:23.948203 UTC", in "Managing the database".
    """
    if "submitted" in names:
        folder = folder / "submitted"
        names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    elif folder.name != "submitted" and not _is_nbgraders(folder, names, curriculum):
        return None
    students = []
    for name in names:
        if not (folder / name).is_dir():
            continue
        parts: list[SubmissionPart] = []
        times: dict[str, datetime] = {}
        for inner in inside(folder / name):
            if inner.is_dir() and not inner.name.startswith("."):
                module = inner.name if inner.name in curriculum.modules else ""
                parts += _parts_of(inner, module or inner.name)
                when = _timestamp(inner / "timestamp.txt")
                if when is not None:
                    times[module] = max(when, times.get(module, when))
        students.append(ClassMember(safe_name(name), "", name, attempts=(Attempt(tuple(parts), times),)))
    return students or None


def _is_nbgraders(folder: Path, names: list[str], curriculum: Curriculum) -> bool:
    """Whether the students' folders hold assignments' folders: known by their names, or by nbgrader's time stamp.

    What one student's folder holds says nothing about a class in which others have work at the top of theirs.
    """
    found = False
    for name in names[:50]:
        if not (folder / name).is_dir() or (folder / name).is_symlink():
            return False
        inner = inside(folder / name)
        if any(path.name.endswith(SUBMISSION_SUFFIXES) for path in inner):
            return False
        found |= any(path.name in curriculum.modules or (path / "timestamp.txt").is_file() for path in inner)
    return found


def _timestamp(path: Path) -> datetime | None:
    try:
        return moment(read_plain_file(path, 1000).decode("utf-8", "replace"))
    except (SkippedFile, OSError):
        return None


def moment(text: str) -> datetime | None:
    """A point in time as platforms write it, in UTC where no zone is said; None if it is none."""
    cleaned = re.sub(r"(\.\d{6})\d+", r"\1", text.strip().removesuffix("UTC").removesuffix("Z").strip())
    try:
        when = datetime.fromisoformat(re.sub(r"\s+(?=[+-]\d\d:?\d\d$)", "", cleaned))
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _parts_of(folder: Path, assignment: str = "") -> list[SubmissionPart]:
    """A folder as it was handed in: its files, or those of the one folder in it."""
    return [SubmissionPart(inner, assignment=assignment) for inner in (unwrapped(folder),)]


def unwrapped(folder: Path) -> Path:
    """The folder itself; or, if it holds no work but one folder, that one."""
    if folder.is_symlink() or not folder.is_dir():
        return folder
    entries = inside(folder)
    inner = [path for path in entries if path.is_dir() and not path.is_symlink()]
    if len(inner) == 1 and not any(path.name.endswith(SUBMISSION_SUFFIXES) for path in entries if path not in inner):
        return inner[0]
    return folder


def inside(folder: Path) -> list[Path]:
    """What lies in a student's folder, sorted, without what is hidden; nothing if it cannot be read.

    That one folder cannot be read is said when it is taken in; it must not stop the class.
    """
    try:
        found = sorted(itertools.islice(folder.iterdir(), MAX_ENTRIES + 1))
    except OSError:
        return []
    return [path for path in found if not path.name.startswith((".", "__"))]


def names_in(folder: Path) -> Iterable[str]:
    """What lies in a folder, sorted, without what is hidden."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith((".", "__")))

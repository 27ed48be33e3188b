"""Read the unpacked bulk downloads of learning platforms, and nbgrader's `submitted/`.

Each function returns the students in a folder, or None if the folder is not of its kind.
"""

import itertools
import re
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from autograder.classroom.submissions.folder_reader import read_plain_file
from autograder.classroom.submissions.intake import MAX_ENTRIES
from autograder.classroom.submissions.model import (
    INSTITUTION,
    TEST_STUDENT_NAMES,
    Attempt,
    ClassMember,
    SubmissionPart,
    is_gradable,
    safe_name,
)
from autograder.classroom.submissions.roster import normalize, read_worksheet
from autograder.core.archives import SkippedFile
from autograder.core.text import clean
from autograder.course import Curriculum
from autograder.errors import UsageError, missing_package

# Students choose names, which may contain line breaks: re.DOTALL, or their submissions would be left out.
# "lovelaceada_LATE_4021_99871_softmax-1.py": sortable name in lower case without spaces, LATE, user id, file id, the
# file's own name; anonymous: "LATE_anon_x7Qz2_99871_softmax.py". A name that a student chose may contain "_4022", or
# "anon_" where the download is not anonymous.
_CANVAS = re.compile(
    r"(?:(?P<user>(?!anon_)(?!LATE_).+?)_)?(?P<late>LATE_)?(?P<id>\d+|(?(user)(?!)|anon_\w+?))_(?P<file>\d{1,18})_"
    r"(?P<name>[^/]+)",
    re.DOTALL | re.ASCII,
)
# Two numbers, the first of which may be a student's. A name with more of them, "x_4022_4021_99871_softmax.py", is
# unclear: it may be of 4021, who added "_4022" to the name, or of 4022, whose file is "99871_softmax.py".
_CANVAS_NUMBERS = re.compile(r"_\d+_\d+_")
_RESUBMITTED = re.compile(r"-(\d{1,3})(?=\.\w+$)")
# "Ada Lovelace_1234_assignsubmission_file", with "_" at the end before Moodle 4.1; the files themselves, with their
# names at the end, where "Download submissions in folders" is off. The first number counts: the student may have chosen
# the rest of the name, including another student's number.
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>[^/]+)|_?)", re.DOTALL | re.ASCII
)
# In the name of a folder, nothing comes after the number that the student has chosen.
_MOODLE_FOLDER = re.compile(
    r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)_?(?P<file>)", re.DOTALL | re.ASCII
)

_GRADESCOPE_EXPORT = re.compile(r"assignment_\d+_export")
MAX_YAML_DEPTH = 50
_NBGRADER_SUBMITTED = "submitted"
_CLONES = "-submissions"
# What systems, editors and Python's tools put into any folder.
_TOOL_NAMES = {
    "__MACOSX", "__pycache__", ".DS_Store", ".Spotlight-V100", ".TemporaryItems", ".fseventsd", ".git", ".github",
    ".svn", ".hg", ".idea", ".vscode", ".ipynb_checkpoints", ".jupyter", ".cache", ".config", ".local", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".tox", ".nox", ".venv", ".headway",
}  # fmt: skip


def is_platform_folder(name: str) -> bool:
    """Return whether the platform, not a student, gives a folder this name; the students' folders are in it."""
    return name == _NBGRADER_SUBMITTED or _GRADESCOPE_EXPORT.fullmatch(name) is not None


def student_in_name(name: str, *, is_folder: bool) -> tuple[str, bool]:
    """Return the student in the name of an entry of a download, and whether the name may be of another one.

    The student is "" if no platform made the name.
    """
    if is_folder:
        match = _MOODLE_FOLDER.fullmatch(name)
        return (f"{match['name']}_{match['id']}", False) if match else ("", False)
    moodle, canvas = _MOODLE.fullmatch(name), _CANVAS.fullmatch(name)
    # Students choose the end of a name, which may look like a name of the other platform.
    if canvas and not (moodle and moodle.end("id") < canvas.end("id")):
        return f"{canvas['user'] or ''}_{canvas['id']}", moodle is not None or _is_unclear(canvas)
    return (f"{moodle['name']}_{moodle['id']}", _is_unclear_in_moodle(name)) if moodle else ("", False)


def download_kind(folder: Path, names: list[str]) -> str:
    """Return the platform that gave the entries of a folder their names, or ''. One student's files are not enough."""
    if "submission_metadata.yml" in names:
        return "Gradescope"
    for kind, reader in (("Canvas", read_canvas), ("Moodle", read_moodle)):
        if len(names) > 1 and len(reader(folder, names) or ()) > 1:
            return kind
    return ""


def read_canvas(folder: Path, names: list[str]) -> list[ClassMember] | None:
    """Read the unpacked archive of Canvas's "Download Submissions".

    The file names are made in lib/content_zipper.rb (github.com/instructure/canvas-lms): name, LATE, user id, the
    attachment's id and its display name, joined by `_`. A file that is submitted again under its old name is displayed
    as `softmax-1.py`. The archive contains the last attempt; of two versions of a file the later one counts.
    """
    files = {name: match for name in names if (match := _CANVAS.fullmatch(name))}
    submitted = [name for name in names if is_gradable(name)]
    if not files or len(files) * 2 < len(submitted):
        return None
    names_by_id: dict[str, list[str]] = defaultdict(list)
    for name, match in files.items():
        names_by_id[match["id"]].append(name)
    members = []
    for user_id, user_names in sorted(names_by_id.items()):
        unclear = {name for name in user_names if _is_unclear(files[name])}
        users = {files[name]["user"] for name in user_names if name not in unclear}
        others = [name for name in user_names if users and files[name]["user"] not in users]
        notes = tuple(f"{clean(name, 120)}: left out, it may be of another student" for name in others)
        user_names = sorted(set(user_names) - set(others), key=lambda name: (name in unclear, int(files[name]["file"])))
        latest: dict[str, str] = {}
        # Attachment ids grow: the later version of a file has the higher one. An unclear name replaces no other.
        for name in user_names:
            title = _RESUBMITTED.sub("", files[name]["name"])
            if name not in unclear or latest.get(title, name) in unclear:
                latest[title] = name
        downloaded = {title: name for title, name in latest.items() if is_gradable(title)}
        parts = tuple(
            SubmissionPart(folder / name, title, is_unclear=bool(users) and name in unclear)
            for title, name in latest.items()
        )
        user = files[user_names[0]]["user"] or ""
        if user in TEST_STUDENT_NAMES:
            continue  # Canvas's own, for "Student View"
        submission = f"{user}_{user_id}" if user else user_id
        late = any(files[name]["late"] for name in user_names)
        ids = {"canvas": user_id} if user_id.isdecimal() else {}  # otherwise the download is anonymous
        attempts = (Attempt(parts, late=late, downloaded=downloaded),)
        members.append(ClassMember(safe_name(submission), user, user_id, attempts=attempts, ids=ids, notes=notes))
    return members


def _is_unclear(match: re.Match[str]) -> bool:
    """Return whether another part of a name in Canvas's download could be the student's number."""
    return _CANVAS_NUMBERS.search(f"_{match['file']}_{match['name']}") is not None


def _is_unclear_in_moodle(name: str) -> bool:
    return name.count("_assignsubmission_") > 1


def read_moodle(folder: Path, names: list[str]) -> list[ClassMember] | None:
    """Read the unpacked archive of Moodle's "Download all submissions", in folders or not.

    The names are made in mod/assign/classes/downloader.php (github.com/moodle/moodle): full name, participant's
    number, `assignsubmission` and the plugin's type, joined by `_`. Texts typed into Moodle (`onlinetext`) are ignored.
    Names, ids, addresses and lateness come from the grading worksheet, if it lies in the same folder.
    """
    matches = {name: match for name in names if (match := _MOODLE.fullmatch(name))}
    others = [name for name in names if name not in matches and (is_gradable(name) or (folder / name).is_dir())]
    if len(matches) <= len(others):  # a single name that looks like Moodle's may be a student's choice
        return None
    unclear = [name for name in matches if _is_unclear_in_moodle(name)]
    for name in unclear:
        if (folder / name).is_dir() and (match := _MOODLE_FOLDER.fullmatch(name)):
            matches[name] = match
        else:
            matches[name] = matches.pop(name)  # last, where it replaces no other file
    clear = {(one["name"], one["id"]) for name, one in matches.items() if name not in unclear or not one["file"]}
    numbers = {number for _, number in clear}
    parts_by_student: dict[tuple[str, str], list[SubmissionPart]] = defaultdict(list)
    for name, match in matches.items():
        student = match["name"], match["id"]
        is_unclear = name in unclear and bool(match["file"]) and student in clear
        parts = parts_by_student[student]
        if match["kind"] == "file":
            path, file = folder / name, match["file"]
            parts.append(SubmissionPart(path if file else unwrap_folder(path), file, is_unclear=is_unclear))
    participants = read_worksheet(folder, [name for name in names if name not in matches])
    members = []
    for (name, number), parts in sorted(parts_by_student.items()):
        person = participants.get(number)
        late_by = person.late_by if person else None
        attempt = Attempt(tuple(parts), late=None if late_by is None else bool(late_by), late_by=late_by)
        submission, notes = safe_name(f"{name}_{number}"), tuple[str, ...]()
        if (name, number) not in clear and number in numbers:
            notes, number = (f"{number} is the number of another student, who may not have submitted this",), ""
        ids = {"moodle": number} if number else {}
        if person and number and person.id != number:
            ids[INSTITUTION] = person.id
        shown, email = (person.name or name, person.email) if person and number else (name, "")
        members.append(ClassMember(submission, shown, ids.get(INSTITUTION, number), email, (attempt,), ids, notes))
    return members


def read_gradescope(folder: Path, names: list[str]) -> list[ClassMember] | None:
    """Read the unpacked archive of Gradescope's "Export Submissions": `submission_metadata.yml`, `submission_NNN/`.

    The keys of the index are Ruby symbols: per submission `:submitters:` (each `:name:`, `:sid:`, `:email:`) and
    `:created_at:` ("2026-04-26 17:34:00.861687000 Z"). A group's submission counts for each of its members; several
    submissions of one student are attempts.
    """
    if "submission_metadata.yml" not in names:
        exports = [name for name in names if _GRADESCOPE_EXPORT.fullmatch(name)]
        if len(exports) != 1:
            return None
        folder = folder / exports[0]
    index = _gradescope_index(folder / "submission_metadata.yml")
    if index is None:
        return None
    submissions_by_account: dict[tuple[str, str], list[tuple[datetime | None, Path]]] = defaultdict(list)
    details: dict[tuple[str, str], dict[str, str]] = {}
    for name, record in index.items():
        path = folder / Path(str(name)).name
        if path in (folder, folder / ".."):
            continue  # no folder of a submission
        listed, created_at = map(record.get, (":submitters", ":created_at")) if isinstance(record, dict) else ((), "")
        submitters = [person for person in listed if isinstance(person, dict)] if isinstance(listed, list) else []
        submitted_at = parse_time(created_at) if isinstance(created_at, str) else None
        for person in submitters or [{}]:
            # Only texts: through aliases, a short index can describe a list that fills the memory as a text.
            fields = {str(key).strip(":"): value for key, value in person.items() if isinstance(value, str)}
            # A student may enter the number of another student, but not the address.
            account = fields.get("sid", ""), fields.get("email", "").casefold()
            key = account if any(account) else (fields.get("name") or path.name, "")
            details[key] = fields
            submissions_by_account[key].append((submitted_at, path))
    accounts = Counter(normalize(fields.get("sid", "")) for fields in details.values())
    members = []
    for key, submissions in sorted(submissions_by_account.items()):
        submissions.sort(key=lambda submission: (submission[0] or datetime.min.replace(tzinfo=UTC), submission[1].name))
        attempts = tuple(
            Attempt((SubmissionPart(unwrap_folder(path)),), {} if submitted_at is None else {"": submitted_at})
            for submitted_at, path in submissions
        )
        name, number, email = (details[key].get(field, "") for field in ("name", "sid", "email"))
        submission, notes = number or email or key[0], tuple[str, ...]()
        if number and (count := accounts[normalize(number)]) > 1:
            notes = (f"{count} students have the number {clean(number, 80)}",)
            submission, number = f"{number} ({email or name})", ""  # it may be that of another student
        ids = {"gradescope": number} if number else {}
        members.append(ClassMember(safe_name(submission), name, number, email, attempts, ids, notes))
    return members


def _gradescope_index(path: Path) -> dict[str, object] | None:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return None
    try:
        import yaml
    except ImportError:
        raise missing_package(f"reading {path.name} needs PyYAML", "class") from None
    try:
        # The base loader leaves everything as text: a student number keeps its zeros, and nothing is constructed.
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        depth = 0
        for event in yaml.parse(text, Loader=loader):  # Loading calls itself for each level, at some depth too often.
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_YAML_DEPTH:
                raise yaml.MarkedYAMLError(problem_mark=event.start_mark)
        index = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        line = f", line {mark.line + 1}" if (mark := getattr(error, "problem_mark", None)) else ""
        raise UsageError(f"{path}{line}: not valid YAML. Download the submissions from Gradescope again.") from None
    return index if isinstance(index, dict) else None


def read_nbgrader(folder: Path, names: list[str], curriculum: Curriculum) -> list[ClassMember] | None:
    """Read nbgrader's `submitted/{student_id}/{assignment_id}/…`, with `timestamp.txt` beside the files.

    See "The philosophy of nbgrader" and, for the time, "Managing the database" (nbgrader.readthedocs.io).
    """
    if _NBGRADER_SUBMITTED in names:
        folder = folder / _NBGRADER_SUBMITTED
        names = submission_names(folder)
    elif folder.name != _NBGRADER_SUBMITTED and not _looks_like_nbgrader(folder, names, curriculum):
        return None
    members = []
    for name in names:
        if not (folder / name).is_dir():
            continue
        parts: list[SubmissionPart] = []
        times: dict[str, datetime] = {}
        for path in filter(Path.is_dir, visible_paths(folder / name)):
            parts.append(SubmissionPart(unwrap_folder(path), assignment=path.name))
            with suppress(SkippedFile, OSError):
                stamp = read_plain_file(path / "timestamp.txt", 1000, folder).decode("utf-8", "replace")
                if submitted_at := parse_time(stamp):
                    module = path.name if path.name in curriculum.modules else ""
                    times[module] = max(submitted_at, times.get(module, submitted_at))
        submitted = tuple(part.assignment for part in parts if part.assignment in curriculum.modules)
        # A folder that is not named after an assignment may contain any of them.
        attempts = (Attempt(tuple(parts), times, assignments=submitted if 0 < len(submitted) == len(parts) else None),)
        members.append(ClassMember(safe_name(name), "", name, attempts=attempts, ids={"nbgrader": name}))
    return members or None


def _looks_like_nbgrader(folder: Path, names: list[str], curriculum: Curriculum) -> bool:
    """Return whether the students' folders contain assignment folders: with a module's name or nbgrader's time stamp.

    One student's folder proves nothing about a class in which others have files at the top of theirs.
    """
    found = False
    for name in names[:50]:
        if not (folder / name).is_dir() or (folder / name).is_symlink():
            return False
        paths = visible_paths(folder / name)
        if any(is_gradable(path.name) for path in paths):
            return False
        found |= any(path.name in curriculum.modules or (path / "timestamp.txt").is_file() for path in paths)
    return found


def parse_time(text: str) -> datetime | None:
    """Return a time as platforms write it, in UTC; None if it is not a time.

    A student may have written it. It may have a time zone with seconds, which other programs cannot read, or be out of
    range in UTC.
    """
    cleaned = re.sub(r"(\.\d{6})\d+", r"\1", text.strip().removesuffix("UTC").removesuffix("Z").strip())
    try:
        time = datetime.fromisoformat(re.sub(r"\s+(?=[+-]\d\d:?\d\d$)", "", cleaned))
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def unwrap_folder(folder: Path) -> Path:
    """Return the only folder in a folder that contains nothing else to grade; otherwise the folder itself."""
    if folder.is_symlink() or not folder.is_dir():
        return folder
    entries = visible_paths(folder)
    folders = [path for path in entries if path.is_dir() and not path.is_symlink()]
    only = len(folders) == 1 and not any(is_gradable(path.name) for path in entries if path not in folders)
    return folders[0] if only else folder


def visible_paths(folder: Path) -> list[Path]:
    """Return the entries of a student's folder, sorted; none if it cannot be read.

    Entries whose names begin with "." or "__" count only if there are no others.
    """
    with suppress(OSError):  # such a folder gets a note when its files are read; it must not stop the class
        paths = sorted(itertools.islice(folder.iterdir(), MAX_ENTRIES + 1))
        visible = [path for path in paths if not path.name.startswith((".", "__"))]
        return visible or [path for path in paths if not _is_tool_entry(path)]
    return []


def submission_names(folder: Path) -> list[str]:
    """Return the names in a class's folder, sorted, without those that tools and systems leave there."""
    return sorted(path.name for path in folder.iterdir() if not _is_tool_entry(path))


def _is_tool_entry(path: Path) -> bool:
    """Return whether a tool or a system, not a student, gives an entry this name.

    Any other folder may be a student's, even if its name begins with "." or "__", and so may any other file that looks
    like part of a submission.
    """
    if path.name in _TOOL_NAMES or path.name.startswith(".Trash"):
        return True
    if path.is_dir():
        return False
    return path.name.startswith(("._", ".#", ".nfs")) or (
        path.name.startswith((".", "__")) and not is_gradable(path.name)
    )


def read_github(folder: Path, names: list[str]) -> list[ClassMember] | None:
    """Read what `gh classroom clone student-repos` writes: `SLUG-submissions/SLUG-LOGIN/`, a clone for each student.

    Sources: `cmd/gh-classroom/clone/student-repos/student-repos.go` in github.com/github/gh-classroom, which names the
    folder after the assignment's slug, and "Create an individual assignment" (docs.github.com, GitHub Classroom), which
    names each repository after the assignment and the student's login. The clones contain no reliable time of
    submission, because commits carry the dates that their author gave them.
    """
    name = folder.resolve().name
    prefix = f"{name.removesuffix(_CLONES)}-"
    clones = [entry for entry in names if entry.startswith(prefix) and (folder / entry).is_dir()]
    if not name.endswith(_CLONES) or not clones or len(clones) != len(names):
        return None
    members = []
    for entry in clones:
        login, attempts = entry.removeprefix(prefix), (Attempt((SubmissionPart(folder / entry),)),)
        members.append(ClassMember(safe_name(login), id=login, attempts=attempts, ids={"github": login}))
    return members

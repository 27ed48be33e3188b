"""Recognize how a folder of submissions is laid out, and list the class with its attempts.

plain        a folder, an archive, a module or a notebook per student
nbgrader     submitted/STUDENT/ASSIGNMENT/…
github       SLUG-submissions/SLUG-LOGIN/, which `gh classroom clone student-repos` writes
canvas, moodle, gradescope     the bulk download of that platform, unpacked
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from autograder.classroom.submissions import lms_downloads
from autograder.classroom.submissions.lms_downloads import submission_names, unwrap_folder, visible_paths
from autograder.classroom.submissions.model import Attempt, ClassMember, SubmissionPart, is_gradable, safe_name
from autograder.core.archives import SUFFIXES
from autograder.core.files import lower_suffix
from autograder.core.text import clean
from autograder.course import Curriculum
from autograder.errors import UsageError

_ATTEMPT = re.compile(r"(?:attempt|try|submission|versuch)?[-_ ]*(\d{1,4})", re.IGNORECASE)
MAX_NAME = 300  # what a file system can write is shorter
ARCHIVES = (*SUFFIXES, ".7z", ".rar")
# Files that instructors keep beside the submissions.
_IS_NO_SUBMISSION = re.compile(
    r"(?i)(readme|license)\b.*|.*\.(csv|tsv|xlsx|ods|json|jsonl|toml|ya?ml|log|sh|html|lock)"
)
Reader = Callable[[Path, list[str], Curriculum], list[ClassMember] | None]
# Platforms first: their downloads cannot be mistaken for anything else.
_PLATFORM_READERS = {
    "gradescope": lms_downloads.read_gradescope,
    "moodle": lms_downloads.read_moodle,
    "canvas": lms_downloads.read_canvas,
    "nbgrader": lms_downloads.read_nbgrader,
    "github": lms_downloads.read_github,
}


def read_class_members(
    folder: Path, curriculum: Curriculum, layout: str = "auto", modules: Sequence[str] = (), *, out: Path | None = None
) -> list[ClassMember]:
    """Return the students whose submissions are in `folder`.

    Args:
        layout: a key of `_PLATFORM_READERS`, "plain", or "auto".
        modules: the assignments to grade; if there is only one, a file of any name counts as it.
        out: the folder of results; it is no submission, even inside `folder`.

    Raises UsageError if there is no such folder, it is empty, or it does not have the given layout.
    """
    if folder.is_file():
        raise UsageError(f"{folder} is neither a folder nor a .zip. Check the path: headway grade DIR --out OUT")
    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}. Check the path.")
    readers: dict[str, Reader] = {**_PLATFORM_READERS, "plain": partial(read_plain_layout, modules=modules)}
    try:
        results = out.resolve() if out else None
        own = results.name if results and results.parent == folder.resolve() else None
        names = [name for name in submission_names(folder) if name != own]
        for name in readers if layout == "auto" else (layout,):
            if members := readers[name](folder, names, curriculum):
                return [_below(folder, member) for member in members]
    except OSError as error:
        path = error.filename or folder
        raise UsageError(f"cannot read {path}: {error.strerror}. Check its permissions: ls -ld {path}") from None
    if layout != "auto":
        raise UsageError(f"{folder} does not have the layout {layout!r}. Let Headway detect it: --layout auto")
    raise UsageError(f"no submissions in {folder}. Give each student a folder: {folder}/ada/softmax.py")


def _below(folder: Path, member: ClassMember) -> ClassMember:
    """Return the member as it may be shown, with the root of each part.

    The root is `folder`, or the only folder in it that a platform made. Students choose their names on platforms. The
    blanks of an id stay: nbgrader's is the name of a folder.
    """

    def with_root(part: SubmissionPart) -> SubmissionPart:
        first, *rest = part.path.relative_to(folder).parts
        made_by_platform = bool(rest) and lms_downloads.is_platform_folder(first)
        return replace(part, root=folder / first if made_by_platform else folder)

    attempts = (replace(attempt, parts=tuple(map(with_root, attempt.parts))) for attempt in member.attempts)
    name, email = (" ".join(clean(text, MAX_NAME).split()) for text in (member.name, member.email))
    return replace(member, name=name, id=safe_name(member.id), email=email, attempts=tuple(attempts))


def read_plain_layout(
    folder: Path, names: list[str], curriculum: Curriculum, modules: Sequence[str] = ()
) -> list[ClassMember] | None:
    """Read a folder, an archive, a module or a notebook per student; a class may mix them."""
    submitted = [name for name in names if (folder / name).is_dir() or is_gradable(name)]
    if submitted and {lower_suffix(name) for name in submitted} <= {f"{name}.py" for name in curriculum.modules}:
        hint = f"Check it with: headway check --dir {shlex.quote(str(folder))} --sandbox"
        problem = f"{folder} is the work of one student; a class is a folder with one folder per student"
        raise UsageError(f"{problem}. {hint}")
    parts: dict[str, list[SubmissionPart]] = {}
    for name in names:
        path = folder / name
        suffix = next((suffix for suffix in ARCHIVES if name.lower().endswith(suffix)), "")
        if path.is_dir() or suffix:
            student, part = name if path.is_dir() else name[: -len(suffix)], SubmissionPart(path)
        elif is_gradable(name):
            student, part = _part_of_file(path, curriculum, modules)
        elif _IS_NO_SUBMISSION.fullmatch(name):
            continue
        else:
            student, part = path.stem, SubmissionPart(path)
        parts.setdefault(student, []).append(part)
    if not any(part.path.is_dir() or is_gradable(part.path.name) for listed in parts.values() for part in listed):
        return []
    members = []
    for student, listed in parts.items():
        submission = safe_name(student)
        name = "" if submission == student else student  # kept whole for the roster if it was shortened to be shown
        members.append(ClassMember(submission, name, attempts=_attempts(listed)))
    return sorted(members, key=lambda member: member.submission)


def _attempts(parts: list[SubmissionPart]) -> tuple[Attempt, ...]:
    """Return one attempt, or one for each of the numbered folders in a student's folder."""
    path = parts[0].path
    if len(parts) > 1 or not path.is_dir() or path.is_symlink():
        # The only folder in a student's folder may have any name, and would otherwise count as one further down.
        return (Attempt(tuple(replace(part, path=unwrap_folder(part.path)) for part in parts)),)
    folder = unwrap_folder(path)
    entries = visible_paths(folder)
    numbers = {path: _ATTEMPT.fullmatch(path.name) for path in entries if path.is_dir()}
    if len(numbers) > 1 and all(numbers.values()) and not any(is_gradable(path.name) for path in entries):
        in_order = sorted(numbers, key=lambda path: int((numbers[path] or [0, 0])[1]))
        return tuple(Attempt((SubmissionPart(unwrap_folder(path)),)) for path in in_order)
    return (Attempt((SubmissionPart(folder),)),)


def _part_of_file(path: Path, curriculum: Curriculum, modules: Sequence[str]) -> tuple[str, SubmissionPart]:
    """Return the student and the part that a file is: `ada.py`, `ada_softmax.py`, `softmax-ada.py`."""
    for module in sorted(curriculum.modules, key=len, reverse=True):
        if match := re.fullmatch(rf"(?:(.+)[-_ ]{module}|{module}[-_ ](.+))", path.stem, re.IGNORECASE):
            return match[1] or match[2], SubmissionPart(path, assignment=module)
    return path.stem, SubmissionPart(path, assignment=modules[0] if len(modules) == 1 else "")

"""Find out how a folder of submissions is laid out, and who handed in what.

plain        a folder, an archive, a module or a notebook for each student
nbgrader     submitted/STUDENT/ASSIGNMENT/…
canvas, moodle, gradescope     what these platforms let one download, unpacked
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.classroom.submissions import intake, lms_downloads
from autograder.classroom.submissions.intake import MAX_FILE_BYTES
from autograder.classroom.submissions.model import SUBMISSION_SUFFIXES, Attempt, ClassMember, SubmissionPart, safe_name
from autograder.core.zip_archive import SkippedFile
from autograder.curriculum import Curriculum
from autograder.errors import UsageError

_ATTEMPT = re.compile(r"(?:attempt|try|submission|versuch)?[-_ ]*(\d{1,4})", re.IGNORECASE)
Reader = Callable[[Path, list[str], Curriculum], list[ClassMember] | None]


def read_class_members(
    folder: Path,
    curriculum: Curriculum,
    layout: str = "auto",
    modules: Sequence[str] = (),
    *,
    out: Path | None = None,
) -> list[ClassMember]:
    """Who handed in what.

    Args:
        layout: one of `LAYOUTS`, or "auto".
        modules: the assignments to grade; if there is one, a file of any name is taken for it.
        out: where the results go: nobody's work, if it lies there, too.

    Raises:
        UsageError: if there is no such folder, nothing in it, or it is not laid out as was said.
    """
    names = [name for name in _entries(folder) if out is None or (folder / name).resolve() != out.resolve()]
    if layout != "auto":
        found = _read(layout, folder, names, curriculum, modules)
        if not found:
            raise UsageError(f"{folder} is not laid out as {layout} has it. Let it be recognised: --layout auto")
        return found
    for name in LAYOUTS:
        found = _read(name, folder, names, curriculum, modules)
        if found:
            return found
    raise UsageError(f"{folder} holds no folders. A class is a folder with one folder per student: {folder}/ada/…")


def _read(
    layout: str, folder: Path, names: list[str], curriculum: Curriculum, modules: Sequence[str]
) -> list[ClassMember] | None:
    reader = _READERS.get(layout)
    try:
        return reader(folder, names, curriculum) if reader else plain(folder, names, curriculum, modules)
    except OSError as error:
        raise UsageError(f"{error.filename or folder} cannot be read ({error.strerror}). Look at it: ls -la") from None


def _entries(folder: Path) -> list[str]:
    if folder.is_file():
        raise UsageError(f"{folder} is a file. Unpack it, and name the folder: headway grade FOLDER --out OUT")
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. Name the folder that holds one folder per student")
    try:
        return list(lms_downloads.names_in(folder))
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be read ({error.strerror}). Look at its permissions: ls -ld {folder}"
        ) from None


def plain(
    folder: Path, names: list[str], curriculum: Curriculum, modules: Sequence[str] = ()
) -> list[ClassMember] | None:
    """A folder, an archive, a module or a notebook for each student; several kinds may lie side by side."""
    work = [name for name in names if (folder / name).is_dir() or name.endswith(SUBMISSION_SUFFIXES)]
    if work and all(name.endswith(".py") and name.removesuffix(".py") in curriculum.modules for name in work):
        raise UsageError(
            f"{folder} is the work of one student. Check it: headway check --dir {folder}; "
            "a class is a folder with one folder per student"
        )
    people: dict[str, list[tuple[str, SubmissionPart]]] = {}
    for name in work:
        path = folder / name
        if path.is_dir() or name.endswith(".zip"):
            people.setdefault(name, []).append((name.removesuffix(".zip"), SubmissionPart(path)))
        else:
            student, part = _of_a_file(path, curriculum, modules)
            people.setdefault(f"{student} ", []).append((student, part))  # the space: apart from a folder of that name
    shown = [entries[0][0] for entries in people.values()]
    found = [
        ClassMember(safe_name(name if shown.count(name) == 1 else key.rstrip()), "", "", attempts=_attempts(entries))
        for (key, entries), name in zip(people.items(), shown, strict=True)
    ]
    return sorted(found, key=lambda student: student.submission)


def _attempts(entries: list[tuple[str, SubmissionPart]]) -> tuple[Attempt, ...]:
    if len(entries) > 1 or not entries[0][1].path.is_dir() or entries[0][1].path.is_symlink():
        return (Attempt(tuple(part for _, part in entries)),)
    folder = lms_downloads.unwrapped(entries[0][1].path)
    lying = lms_downloads.inside(folder)
    inner = {path: _ATTEMPT.fullmatch(path.name) for path in lying if path.is_dir()}
    if len(inner) > 1 and all(inner.values()) and not any(path.name.endswith(SUBMISSION_SUFFIXES) for path in lying):
        in_order = sorted(inner, key=lambda path: int((_ATTEMPT.fullmatch(path.name) or [0, 0])[1]))
        return tuple(Attempt((SubmissionPart(lms_downloads.unwrapped(path)),)) for path in in_order)
    return (Attempt((SubmissionPart(folder),)),)


def _of_a_file(path: Path, curriculum: Curriculum, modules: Sequence[str]) -> tuple[str, SubmissionPart]:
    """Whose file it is and for which module: `ada.py`, `ada_softmax.py`, `softmax-ada.py`."""
    stem, suffix = path.stem, path.suffix
    for module in sorted(curriculum.modules, key=len, reverse=True):
        match = re.fullmatch(rf"(?:(.+)[-_ ]{module}|{module}[-_ ](.+))", stem, re.IGNORECASE)
        if match:
            return match[1] or match[2], SubmissionPart(path, f"{module}{suffix}", module)
    if suffix == ".ipynb":
        return stem, SubmissionPart(path, f"{modules[0]}.ipynb" if len(modules) == 1 else "")
    module = modules[0] if len(modules) == 1 else _guess(path, curriculum)
    return stem, SubmissionPart(path, f"{module}.py" if module else "", module)


def _guess(path: Path, curriculum: Curriculum) -> str:
    """The module that a file of another name is most likely meant to be."""
    try:
        content = intake.read_plain_file(path, MAX_FILE_BYTES)
    except (SkippedFile, OSError):
        return ""
    return intake.guess_module(content, curriculum)


# Platforms first: what they leave behind is unmistakable.
_READERS: dict[str, Reader] = {
    "gradescope": lms_downloads.gradescope,
    "moodle": lms_downloads.moodle,
    "canvas": lms_downloads.canvas,
    "nbgrader": lms_downloads.nbgrader,
}
LAYOUTS = (*_READERS, "plain")

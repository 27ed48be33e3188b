"""Find and read the sources of a class: the folders of submissions, each with the assignments that it is for.

The layout of a folder is recognized:

plain        a folder, an archive, a module or a notebook per student
nbgrader     submitted/STUDENT/ASSIGNMENT/…
github       SLUG-submissions/SLUG-LOGIN/, which `gh classroom clone student-repos` writes
canvas, moodle, gradescope     the bulk download of that platform, unpacked
"""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from autograder.classroom.submissions import class_archive, lms_downloads
from autograder.classroom.submissions.lms_downloads import submission_names, unwrap_folder, visible_paths
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, SubmissionPart, is_gradable, safe_name
from autograder.core.archives import SUFFIXES
from autograder.core.files import lower_suffix, report_read_error
from autograder.core.text import clean, counted
from autograder.course import Curriculum
from autograder.errors import UsageError

_ATTEMPT = re.compile(r"(?:attempt|try|submission|versuch)?[-_ ]*(\d{1,4})", re.IGNORECASE)
MAX_NAME = 300  # what a file system can write is shorter
ARCHIVES = (*SUFFIXES, ".7z", ".rar")
# Files that instructors keep beside the submissions.
_IS_NO_SUBMISSION = re.compile(
    r"(?i)(readme|license)\b.*|.*\.(csv|tsv|xlsx|ods|json|jsonl|toml|ya?ml|log|sh|html|lock)"
)
Reader = Callable[[Path, list[str]], list[ClassMember] | None]


def modules_of(curriculum: Curriculum, functions: Iterable[str]) -> tuple[str, ...]:
    """Return the assignments of the named functions, in their order."""
    return tuple(dict.fromkeys(curriculum.functions[name].module for name in functions))


def source_from_option(text: str, curriculum: Curriculum, layout: str) -> Source:
    """Return the source that `--source softmax=DIR` or `--source softmax,attention=DIR` means."""
    names, equals, folder = text.partition("=")
    if not (equals and names.strip() and folder.strip()):
        example = "--source softmax=submissions.zip"
        raise UsageError(f"--source {shlex.quote(text)}: expected ASSIGNMENT=DIR, for example {example}")
    functions = curriculum.select(name for name in names.split(",") if name.strip())
    modules = modules_of(curriculum, functions)
    return Source("-".join(modules), modules, Path(folder).expanduser(), layout, functions)


def find_sources(
    folder: Path, curriculum: Curriculum, layout: str, functions: tuple[str, ...], out: Path
) -> list[Source]:
    """Return the sources in a folder: itself, or `FOLDER/<assignment>/<download>` for each of the named assignments.

    A download may be packed: `FOLDER/softmax/submissions.zip` or `FOLDER/softmax.zip`.

    Raises UsageError if its folders are downloads of platforms whose names do not say for which assignment they are.
    """
    modules = modules_of(curriculum, functions)
    whole = Source("", modules, folder, layout, functions)
    if not folder.is_dir():
        return [whole]  # reading it reports the problem
    paths = [folder / name for name in submission_names(folder)]
    folders = [
        path
        for path in paths
        if not path.is_symlink() and path.resolve() != out.resolve()
        # An archive is a source if it is named after an assignment and comes from a platform.
        if path.is_dir() or (_module_of_name(path, curriculum) and class_archive.download_kind(path))
    ]
    named = {path: module for path in folders if (module := _module_of_name(path, curriculum))}
    downloads = {path: kind for path in folders if (kind := class_archive.download_kind(path))}
    if len(folders) > 1 and len(downloads) * 2 > len(folders) and len(named) < len(folders):
        raise UsageError(_unclear_downloads(folder, downloads, named, next(iter(modules), "softmax")))
    if not named or len(named) < len(folders) or not (downloads or len(named) > 1):
        return [whole]
    if layout == "auto" and any((path / f"{name}.py").is_file() for path in folders for name in curriculum.modules):
        return [whole]  # the work of one student, in a folder for each assignment
    twice = [path.name for path, module in named.items() if list(named.values()).count(module) > 1]
    if twice:
        raise UsageError(f"{folder}: {' and '.join(twice)} are for the same assignment. Keep one of them")
    return [
        replace(whole.part(module, (module,)), folder=path)
        for path, module in sorted(named.items(), key=lambda item: list(curriculum.modules).index(item[1]))
        if module in modules
    ]


def _module_of_name(path: Path, curriculum: Curriculum) -> str:
    """Return the assignment that a folder or an archive is named after, or ''."""
    name = path.name.lower().removesuffix(".zip")
    return name if name in curriculum.modules else ""


def _unclear_downloads(folder: Path, downloads: dict[Path, str], named: dict[Path, str], example: str) -> str:
    kinds = ", ".join(sorted(set(downloads.values())))
    found = f"{folder} contains {counted(len(downloads), 'download')} from {kinds}"
    unnamed = [path for path in downloads if path not in named]
    option = f"--source {example}={shlex.quote(str(unnamed[0]))}"
    return (
        f"{found}, and {unnamed[0].name!r} is not the name of an assignment. "
        f"Name each folder after its assignment ({folder.name}/{example}/…), or say which it is: {option}"
    )


def read_source(source: Source, curriculum: Curriculum, out: Path) -> list[ClassMember]:
    """Return the students whose submissions are in a source; raise UsageError as `read_class_members` does."""
    folder = source.unpacked or source.folder
    try:
        members = read_class_members(folder, curriculum, source.layout, source.assignments, out=out)
    except UsageError as error:  # The user knows the archive, not the place where it was unpacked.
        raise UsageError(str(error).replace(str(folder), str(source.folder))) from None
    # Moodle's participant number is another one for each assignment.
    keys = {"moodle": f"moodle:{source.assignments[0]}"} if len(source.assignments) == 1 else {}
    return [
        replace(member, ids={keys.get(platform, platform): number for platform, number in member.ids.items()})
        for member in members
    ]


def read_class_members(
    folder: Path, curriculum: Curriculum, layout: str = "auto", modules: Sequence[str] = (), *, out: Path | None = None
) -> list[ClassMember]:
    """Return the students whose submissions are in `folder`.

    Args:
        layout: one of those at the top of this module, or "auto".
        modules: the assignments to grade; if there is only one, a file of any name counts as it.
        out: the folder of results; it is no submission, even inside `folder`.

    Raises UsageError if there is no such folder, it is empty, or it does not have the given layout.
    """
    if folder.is_file():
        raise UsageError(f"{folder} is neither a folder nor a .zip. Check the path: headway grade DIR --out OUT")
    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}. Check the path.")
    readers: dict[str, Reader] = {
        # Platforms first: their downloads cannot be mistaken for anything else.
        "gradescope": lms_downloads.read_gradescope,
        "moodle": lms_downloads.read_moodle,
        "canvas": lms_downloads.read_canvas,
        "nbgrader": partial(lms_downloads.read_nbgrader, curriculum=curriculum),
        "github": lms_downloads.read_github,
        "plain": partial(read_plain_layout, curriculum=curriculum, modules=modules),
    }
    with report_read_error(folder):
        results = out.resolve() if out else None
        own = results.name if results and results.parent == folder.resolve() else None
        names = [name for name in submission_names(folder) if name != own]
        for name in readers if layout == "auto" else (layout,):
            if members := readers[name](folder, names):
                return [_below(folder, member) for member in members]
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


def split_as_before(stored: Sequence[Source], new: Sequence[Source]) -> list[Source]:
    """Return the sources of a run; if it names one folder that was graded in parts before, those parts and the rest."""
    if len(new) != 1 or new[0].name:
        return list(new)
    (whole,) = new
    parts = [source for source in stored if set(source.assignments) & set(whole.assignments)]
    graded = {name for source in parts for name in source.assignments}
    same_folder = all(source.folder.resolve() == whole.folder.resolve() for source in parts)
    if not parts or (len(parts) == 1 and not parts[0].name) or not same_folder or graded - set(whole.assignments):
        return [whole]
    rest = tuple(name for name in whole.assignments if name not in graded)
    named = {source.name: source.assignments for source in parts} | ({"-".join(rest): rest} if rest else {})
    return [whole.part(name, assignments) for name, assignments in named.items()]


def combine(stored: Sequence[Source], new: Sequence[Source], out: Path) -> tuple[list[Source], list[str]]:
    """Return the sources of a term after a run with new ones, and what the instructor should know about it.

    A new source replaces the stored one of the same name. An assignment is graded from one source only: the newest.
    """
    new, notes = list(new), list[str]()
    if len(new) == 1 and not new[0].name:
        new = [_named_as_before(stored, new[0], out)]
    taken: dict[str, Source] = {}
    for source in new:
        for name in source.assignments:
            if name in taken:
                problem = f"{name} is named twice: {taken[name].folder} and {source.folder}"
                raise UsageError(f"{problem}. Give one folder per assignment: --source {name}=DIR")
            taken[name] = source
    replaced = {source.name for source in new}
    kept = []
    for source in stored:
        if source.name in replaced:
            continue
        left = tuple(name for name in source.assignments if name not in taken)
        moved = [name for name in source.assignments if name in taken]
        if moved:
            notes.append(f"{', '.join(moved)}: graded from {taken[moved[0]].folder} now, not from {source.folder}")
        if left:
            kept.append(source.part(source.name, left))
    by_name = {source.name: source for source in [*kept, *new]}
    in_order = [by_name.pop(source.name) for source in stored if source.name in by_name]
    return [*in_order, *by_name.values()], notes


def _named_as_before(stored: Sequence[Source], new: Source, out: Path) -> Source:
    """Return the source of `headway grade DIR` under the name that it had, or under that of its assignments.

    Raises UsageError if it would replace the submissions of several sources.
    """
    overlapping = [source for source in stored if set(source.assignments) & set(new.assignments)]
    same = [source for source in stored if source.assignments == new.assignments]
    if same or not stored:
        return replace(new, name=same[0].name if same else "")
    if not overlapping:
        return replace(new, name="-".join(new.assignments))
    if len(overlapping) == 1 and not overlapping[0].name:
        return new
    names = ", ".join(dict.fromkeys(name for source in overlapping for name in source.assignments))
    option = f"--source {overlapping[0].assignments[0]}={shlex.quote(str(new.folder))}"
    raise UsageError(f"{out} contains {names} from other folders. Say for which assignment {new.folder} is: {option}")

"""Find and read the sources of a class: the folders of submissions, each with the assignments that it is for."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.classroom.submissions import class_archive, layouts, lms_downloads
from autograder.classroom.submissions.model import ClassMember, Source
from autograder.core.text import counted
from autograder.course import Curriculum
from autograder.errors import UsageError


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
    paths = [folder / name for name in lms_downloads.submission_names(folder)]
    folders = [path for path in paths if _may_be_source(path, curriculum) and path.resolve() != out.resolve()]
    named = {path: module for path in folders if (module := _module_of_name(path, curriculum))}
    downloads = {path: kind for path in folders if (kind := class_archive.download_kind(path, curriculum))}
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
        Source(module, (module,), path, layout, tuple(f for f in functions if f.partition(".")[0] == module))
        for path, module in sorted(named.items(), key=lambda item: list(curriculum.modules).index(item[1]))
        if module in modules
    ]


def _may_be_source(path: Path, curriculum: Curriculum) -> bool:
    """Return whether a path is a folder, or an archive that is named after an assignment and comes from a platform."""
    if path.is_symlink():
        return False
    return path.is_dir() or bool(_module_of_name(path, curriculum) and class_archive.download_kind(path, curriculum))


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
    """Return the students whose submissions are in a source; raise UsageError as `layouts.read_class_members` does."""
    folder = source.unpacked or source.folder
    try:
        members = layouts.read_class_members(folder, curriculum, source.layout, source.assignments, out=out)
    except UsageError as error:  # The user knows the archive, not the place where it was unpacked.
        raise UsageError(str(error).replace(str(folder), str(source.folder))) from None
    return [replace(member, ids=_ids_in(source, member.ids)) for member in members]


def _ids_in(source: Source, ids: dict[str, str]) -> dict[str, str]:
    """Return the ids of a student; Moodle's participant number is another one for each assignment."""
    if "moodle" not in ids or len(source.assignments) > 1:
        return ids
    rest = {platform: number for platform, number in ids.items() if platform != "moodle"}
    return {**rest, f"moodle:{source.assignments[0]}": ids["moodle"]}


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
    return [
        replace(
            whole,
            name=name,
            assignments=assignments,
            functions=tuple(function for function in whole.functions if function.partition(".")[0] in assignments),
        )
        for name, assignments in named.items()
    ]


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
            functions = tuple(name for name in source.functions if name.partition(".")[0] in left)
            kept.append(replace(source, assignments=left, functions=functions))
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

"""Find courses: the built-in one, and those of other installed packages.

A package offers a course as an entry point of the group `headway.courses`, whose value is a `Curriculum`:

    [project.entry-points."headway.courses"]
    statistics = "toycourse:COURSE"

The package that `Curriculum.package` names contains everything else: docs/courses.md lists its files. The built-in
course, `autograder.courses.transformer`, has the same layout, except that its solutions are in `solutions/` at the top
of the repository, and that the `figures.py` of each assignment draws the pictures.

An assignment can also be reused from the built-in course (`selection.py`). Whatever has no `solutions/<module>.py` in
the course's own package is taken from the built-in course, with its checks, references, mistakes, promises and hints.

An instructor installs a course, and it is trusted like Headway itself. Files that others may have written can only
name a course.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from autograder.core.text import clean_name
from autograder.course.model import BUILT_IN, Curriculum, reachable
from autograder.course.stubs import PICTURE, bundled
from autograder.errors import UsageError

GROUP = "headway.courses"
DEFAULT = "transformer"


def default() -> Curriculum:
    """Return the built-in course on transformers."""
    return load(DEFAULT)


@cache
def load(name: str) -> Curriculum:
    """Return the course of that name; raise UsageError if no installed package provides it, or it is invalid."""
    curriculum = find(name)
    if not curriculum.is_built_in:
        curriculum = with_reused(curriculum)
        if problem := next(_problems(curriculum), ""):
            raise _invalid(name, problem)
    return curriculum


@cache
def find(name: str) -> Curriculum:
    """Return the course of that name as its package declares it, for its authors: it may be invalid in other ways."""
    if name == DEFAULT:
        transformer: Curriculum = importlib.import_module(BUILT_IN).TRANSFORMER
        return transformer
    from importlib.metadata import entry_points

    courses = entry_points(group=GROUP)
    points = {point.value: point for point in courses if point.name == name}
    if not points:
        known = clean_name(", ".join(sorted({DEFAULT, *courses.names})), 300)
        raise UsageError(
            f"no such course: {clean_name(name)!r}. Install the package that provides it. Available: {known}"
        )
    if len(points) > 1:
        packages = clean_name(", ".join(points), 300)
        raise UsageError(f"two packages provide a course {name!r}: {packages}. Uninstall one of them")
    (point,) = points.values()
    try:
        curriculum = point.load()
    except Exception as error:  # Importing a package can raise anything.
        raise _invalid(name, f"{point.value} cannot be imported ({type(error).__name__}: {error})") from error
    if not isinstance(curriculum, Curriculum):
        raise _invalid(name, f"{point.value} is a {type(curriculum).__name__}, not a Curriculum")
    if curriculum.name != name:
        raise _invalid(name, f"the Curriculum in {point.value} is named {curriculum.name!r}")
    return curriculum


def with_reused(curriculum: Curriculum) -> Curriculum:
    """Return a course in which the assignments of the built-in course are given that its solutions import."""
    if curriculum.is_built_in:
        return curriculum
    reusable = (a for a in default().assignments if home(a.module, curriculum.package) == BUILT_IN)
    return with_given(curriculum, replace(default(), assignments=tuple(reusable)))


def with_given(curriculum: Curriculum, source: Curriculum) -> Curriculum:
    """Return a course in which the assignments of `source` that its solutions import are given, unless it has them."""
    known = source.modules
    imported = reachable(curriculum.modules, lambda name: imported_names(name, curriculum.package) & known.keys())
    missing = imported - curriculum.modules.keys()
    given = tuple(replace(assignment, number=0) for name, assignment in known.items() if name in missing)
    return curriculum if given == curriculum.given else replace(curriculum, given=given)


@cache
def imported_names(module: str, package: str) -> frozenset[str]:
    """Return the top-level names of the modules that a solution imports; none if it is missing or not valid Python."""
    from autograder.parsing.cell_statements import imported_roots

    path = solution_path(module, package)
    return frozenset(imported_roots(path.read_bytes()) if path.is_file() else ())


def is_built_in(package: str) -> bool:
    """Return whether a package is that of the built-in course."""
    return package == BUILT_IN


def folder(package: str) -> Path:
    """Return the folder of a course's package, without importing it; raise UsageError if there is no such package."""
    if is_built_in(package):  # Without a search: its shipped answers are needed at every start.
        return Path(__file__).parents[1] / "courses" / "transformer"
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"the package {clean_name(package)!r} of a course is missing. Install it again")
    return Path(next(iter(spec.submodule_search_locations)))


def solutions(package: str) -> Path:
    """Return the folder of the official solutions in a package."""
    return bundled("solutions") if package == BUILT_IN else folder(package) / "solutions"


@cache
def home(module: str, package: str) -> str:
    """Return the package with the files of an assignment of a course: its own, or the built-in one that is reused."""
    if package == BUILT_IN or (solutions(package) / f"{module}.py").is_file():
        return package
    return BUILT_IN if (solutions(BUILT_IN) / f"{module}.py").is_file() else package


def solution_path(module: str, package: str) -> Path:
    """Return the file with the official solution of an assignment of a course; it may be missing."""
    return solutions(home(module, package)) / f"{module}.py"


def solution_text(module: str, package: str) -> str:
    """Return the official solution of an assignment of a course."""
    return solution_path(module, package).read_text("utf-8")


def official_files(curriculum: Curriculum) -> dict[str, Path]:
    """Return the official solutions of a course, given ones included, and the modules beside its own, by file name."""
    own = {path.name: path for path in sorted(solutions(curriculum.package).glob("*.py"))}
    modules = (*curriculum.modules, *curriculum.given_modules)
    return own | {f"{module}.py": solution_path(module, curriculum.package) for module in modules}


def is_mixed(curriculum: Curriculum) -> bool:
    """Return whether some official solutions of a course are in another package."""
    modules = (*curriculum.modules, *curriculum.given_modules)
    return any(home(module, curriculum.package) != curriculum.package for module in modules)


def figure_texts(curriculum: Curriculum) -> dict[str, str]:
    """Return the pictures in a course's lessons: SVG by path relative to the lesson."""
    mixed = is_mixed(curriculum)
    folders = [solutions(package) for package in (*[BUILT_IN] * mixed, curriculum.package)]
    paths = [path for folder in folders for path in folder.glob("figures/*.svg")]
    texts = {f"figures/{path.name}": path.read_text("utf-8") for path in paths}
    if mixed or curriculum.is_selection:
        lessons = [solution_text(module, curriculum.package) for module in curriculum.modules]
        shown = {match[2] for text in lessons for match in PICTURE.finditer(text)}
        texts = {name: text for name, text in texts.items() if name in shown}
    return dict(sorted(texts.items()))


def extra_texts(package: str) -> dict[str, str]:
    """Return what students are given besides the assignments, such as a warm-up: source by file name."""
    return {path.name: path.read_text("utf-8") for path in sorted((solutions(package) / "extras").glob("*.py"))}


def assignment_folder(module: str, package: str) -> Path:
    """Return the folder of an assignment of a course, which may be in the built-in course."""
    return folder(home(module, package)) / module


def check_files(module: str, package: str) -> list[Path]:
    """Return the files with the checks of an assignment of a course; empty if there are none."""
    root = assignment_folder(module, package)
    single = root / "checks.py"
    return [single] if single.is_file() else sorted((root / "checks").glob("[!_]*.py"))


def check_modules(module: str, package: str) -> list[str]:
    """Return the same as names of Python modules: pytest does not accept a path that contains a bracket."""
    root = assignment_folder(module, package)
    paths = [path.relative_to(root).with_suffix("") for path in check_files(module, package)]
    return [".".join((home(module, package), module, *path.parts)) for path in paths]


def source_files(package: str) -> list[Path]:
    """Return every file of a third-party course that a result can depend on."""
    return sorted(path for kind in ("*.py", "*.toml") for path in folder(package).rglob(kind))


def _problems(curriculum: Curriculum) -> Iterator[str]:
    """Yield why a course cannot be used: it is inconsistent, or a file is missing."""
    package = curriculum.package
    if not curriculum.functions:
        yield "it has no functions"
    for module, assignment in curriculum.modules.items():
        if not assignment.functions:
            yield f"the assignment {module} has no functions"
        if not module.isidentifier() or module in sys.stdlib_module_names:
            yield f"a module cannot be named {module!r}: not an identifier, or a name of the standard library"
        if not solution_path(module, package).is_file():
            yield f"{package}/solutions/{module}.py is missing"
        if not check_files(module, package):
            yield f"{package}/{module}/checks.py is missing"
    needs = ((function.qualified, need) for function in curriculum.functions.values() for need in function.needs)
    for name, need in needs:
        if need not in curriculum.all_functions:
            yield f"{name} needs {need!r}, which is not in the course"


def _invalid(name: str, reason: str) -> UsageError:
    advice = "Report this to its authors, or, if it is yours, see all problems: headway verify --curriculum NAME"
    return UsageError(f"the course {name!r} is invalid: {clean_name(reason, 300)}. {advice}")

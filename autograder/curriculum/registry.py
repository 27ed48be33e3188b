"""Find courses: the built-in one, and those of other installed packages.

A package offers a course as an entry point of the group `headway.courses`, whose value is a `Curriculum`:

    [project.entry-points."headway.courses"]
    statistics = "toycourse:COURSE"

The package that `Curriculum.package` names contains everything else. `autograder.courses.transformer`, the built-in
course, has the same layout, except that its solutions are in `solutions/` at the top of the repository:

    solutions/<module>.py       lesson and solution, from which the stub is generated
    solutions/figures/*.svg     pictures in the lessons; optional
    checks/test_<module>.py     graded checks; or several files checks/<module>/test_*.py
    reference/<module>.py       the functions that answers are compared with
    mistakes/<module>.py        known mistakes; optional
    promises/<module>.toml      what the docstrings promise, and what breaks it; optional
    hints.toml                  hints; optional
    glossary.toml               explanations of terms; optional

An instructor installs a course, and it is trusted like Headway itself. Files that others may have written can only
name a course.
"""

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path

from autograder.core.text import clean
from autograder.curriculum import Curriculum
from autograder.curriculum.stubs import bundled
from autograder.errors import UsageError

GROUP = "headway.courses"
DEFAULT = "transformer"
BUILT_IN = "autograder.courses.transformer"


def default() -> Curriculum:
    """Return the built-in course on transformers."""
    return load(DEFAULT)


@cache
def load(name: str) -> Curriculum:
    """Return the course of that name; raise UsageError if no installed package provides it, or it is invalid."""
    if name == DEFAULT:
        transformer: Curriculum = importlib.import_module(BUILT_IN).TRANSFORMER
        return transformer
    from importlib.metadata import entry_points

    courses = entry_points(group=GROUP)
    points = {point.value: point for point in courses if point.name == name}
    if not points:
        known = _clean(", ".join(sorted({DEFAULT, *courses.names})))
        raise UsageError(f"no such course: {_clean(name)!r}. Install the package that provides it. Available: {known}")
    if len(points) > 1:
        raise UsageError(f"two packages provide a course {name!r}: {_clean(', '.join(points))}. Uninstall one of them")
    (point,) = points.values()
    try:
        curriculum = point.load()
    except Exception as error:  # Importing a package can raise anything.
        raise _invalid(name, f"{point.value} cannot be imported ({type(error).__name__}: {error})") from error
    if not isinstance(curriculum, Curriculum):
        raise _invalid(name, f"{point.value} is a {type(curriculum).__name__}, not a Curriculum")
    if curriculum.name != name:
        raise _invalid(name, f"the Curriculum in {point.value} is named {curriculum.name!r}")
    _validate(curriculum)
    return curriculum


def folder(package: str) -> Path:
    """Return the folder of a course's package, without importing it; raise UsageError if there is no such package."""
    if package == BUILT_IN:  # Without a search: its shipped answers are needed at every start.
        return Path(__file__).parents[1] / "courses" / "transformer"
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"the package {_clean(package)!r} of a course is missing. Install it again")
    return Path(next(iter(spec.submodule_search_locations)))


def solutions(package: str) -> Path:
    """Return the folder of a course's official solutions."""
    return bundled("solutions") if package == BUILT_IN else folder(package) / "solutions"


def figures(package: str) -> Path:
    """Return the folder of the pictures in a course's lessons; it may be missing."""
    return solutions(package) / "figures"


def figure_texts(package: str) -> dict[str, str]:
    """Return the pictures in a course's lessons: SVG by path relative to the lesson."""
    return {f"figures/{path.name}": path.read_text("utf-8") for path in sorted(figures(package).glob("*.svg"))}


def extra_texts(package: str) -> dict[str, str]:
    """Return what students are given besides the assignments, such as a warm-up: source by file name."""
    return {path.name: path.read_text("utf-8") for path in sorted((solutions(package) / "extras").glob("*.py"))}


def checks(package: str) -> Path:
    """Return the folder of a course's checks."""
    return folder(package) / "checks"


def check_files(module: str, package: str) -> list[Path]:
    """Return the files with the checks of an assignment; empty if there are none."""
    single = checks(package) / f"test_{module}.py"
    return [single] if single.is_file() else sorted((checks(package) / module).glob("test_*.py"))


def check_modules(module: str, package: str) -> list[str]:
    """Return the same as names of Python modules: pytest does not accept a path that contains a bracket."""
    root = checks(package)
    paths = [path.relative_to(root).with_suffix("") for path in check_files(module, package)]
    return [".".join((package, root.name, *path.parts)) for path in paths]


def source_files(package: str) -> list[Path]:
    """Return every file of a third-party course that a result can depend on."""
    return sorted(path for kind in ("*.py", "*.toml") for path in folder(package).rglob(kind))


def _validate(curriculum: Curriculum) -> None:
    """Raise UsageError if a course is inconsistent or a required file is missing."""
    name, package = curriculum.name, curriculum.package
    if not curriculum.functions:
        raise _invalid(name, "it has no functions")
    for module, assignment in curriculum.modules.items():
        if not module.isidentifier() or module in sys.stdlib_module_names:
            reason = "not an identifier, or a name of the standard library"
            raise _invalid(name, f"a module cannot be named {module!r}: {reason}")
        if any(function.module != module for function in assignment.functions):
            raise _invalid(name, f"a function of {module} names another module")
        if not (solutions(package) / f"{module}.py").is_file():
            raise _invalid(name, f"{package}/solutions/{module}.py is missing")
        if not check_files(module, package):
            raise _invalid(name, f"{package}/checks/test_{module}.py is missing")
    for function in curriculum.functions.values():
        if missing := [need for need in function.needs if need not in curriculum.functions]:
            raise _invalid(name, f"{function.qualified} needs {missing[0]!r}, which is not in the course")


def _invalid(name: str, reason: str) -> UsageError:
    advice = "Install it again, or report this to its authors"
    return UsageError(f"the course {name!r} is invalid: {_clean(reason)}. {advice}")


def _clean(text: str) -> str:
    return clean(" ".join(text.split()), 300)

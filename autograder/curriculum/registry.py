"""Courses: the kit's own, and those that other packages bring.

A package offers a course as an entry point of the group `headway.courses`, whose value is a `Curriculum`:

    [project.entry-points."headway.courses"]
    statistics = "toycourse:COURSE"

and the rest of it stands in the package that `Curriculum.package` names, as the kit's own stands in `autograder`:

    solutions/<module>.py       lesson and solution; stubs are generated from it
    checks/test_<module>.py     graded checks; where they are many, several files checks/<module>/test_*.py
    reference/<module>.py       what answers are compared with
    mistakes/<module>.py        known mistakes; may be missing
    hints.toml                  hints; may be missing

A course is installed by whoever grades with it, and trusted like the kit itself. Only its name is ever read from a
file that others may have written.
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
    """The course of that name. Installed packages are searched only for another one than the kit's own.

    Raises:
        UsageError: if no installed package brings it, or what it brings cannot be used.
    """
    if name == DEFAULT:
        transformer: Curriculum = importlib.import_module(BUILT_IN).TRANSFORMER
        return transformer
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    points = {point.value: point for point in found if point.name == name}
    if not points:
        known = ", ".join(sorted({DEFAULT, *found.names}))
        raise UsageError(
            f"there is no course {_clean(name)!r} here. Install the package that brings it. There are: {_clean(known)}"
        )
    if len(points) > 1:
        raise UsageError(f"two packages bring a course {name!r}: {_clean(', '.join(points))}. Uninstall one of them")
    (point,) = points.values()
    try:
        curriculum = point.load()
    except Exception as error:  # whatever a package does when it is imported
        raise _unusable(name, f"{point.value} cannot be imported ({type(error).__name__}: {error})") from error
    if not isinstance(curriculum, Curriculum):
        raise _unusable(name, f"{point.value} is a {type(curriculum).__name__}, and no Curriculum")
    if curriculum.name != name:
        raise _unusable(name, f"the Curriculum in {point.value} is named {curriculum.name!r}")
    _look_over(curriculum)
    return curriculum


def folder(package: str) -> Path:
    """The folder of a course's package, which is not imported for it.

    Raises:
        UsageError: if there is no such package.
    """
    if package == BUILT_IN:  # without an import: the answers that ship with it are needed at every start
        return Path(__file__).parents[1] / "courses" / "transformer"
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(f"the package {_clean(package)!r} of a course is not there. Install it again")
    return Path(next(iter(spec.submodule_search_locations)))


def solutions(package: str) -> Path:
    """The folder of a course's official solutions."""
    return bundled("solutions") if package == BUILT_IN else folder(package) / "solutions"


def checks(package: str) -> Path:
    """The folder of a course's checks."""
    return folder(package) / "checks"


def check_files(module: str, package: str) -> list[Path]:
    """The files with the checks of an assignment; none if there are none."""
    one = checks(package) / f"test_{module}.py"
    return [one] if one.is_file() else sorted((checks(package) / module).glob("test_*.py"))


def check_modules(module: str, package: str) -> list[str]:
    """The same as names of Python modules: pytest takes no path with a bracket in it, wherever the kit is installed."""
    root = checks(package)
    found = [path.relative_to(root).with_suffix("") for path in check_files(module, package)]
    return [".".join((package, root.name, *path.parts)) for path in found]


def sources(package: str) -> list[Path]:
    """Every file of another package's course that a verdict can depend on."""
    return sorted(path for kind in ("*.py", "*.toml") for path in folder(package).rglob(kind))


def _look_over(curriculum: Curriculum) -> None:
    """See that a course can be used before anybody works with it."""
    name, package = curriculum.name, curriculum.package
    if not curriculum.functions:
        raise _unusable(name, "it has no functions")
    for module, assignment in curriculum.modules.items():
        if not module.isidentifier() or module in sys.stdlib_module_names:
            raise _unusable(name, f"a module cannot be named {module!r}: it is no name, or Python's own")
        if any(function.module != module for function in assignment.functions):
            raise _unusable(name, f"a function of {module} says that it is of another module")
        if not (solutions(package) / f"{module}.py").is_file():
            raise _unusable(name, f"{package}/solutions/{module}.py is missing")
        if not check_files(module, package):
            raise _unusable(name, f"{package}/checks/test_{module}.py is missing")
    for function in curriculum.functions.values():
        for need in function.needs:
            if need not in curriculum.functions:
                raise _unusable(name, f"{function.qualified} needs {need!r}, which it does not have")


def _unusable(name: str, why: str) -> UsageError:
    return UsageError(f"the course {name!r} cannot be used: {_clean(why)}. Tell its authors, or install it again")


def _clean(text: str) -> str:
    return clean(" ".join(text.split()), 300)

"""Find what a course lets submissions import besides NumPy: installed packages, with the packages that those need."""

import contextlib
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError

if TYPE_CHECKING:
    from importlib import metadata

_REFUSED = ("autograder", "pytest", "_pytest")  # parts of the grader
# Submodules that are imported before a process is confined: matplotlib.pyplot looks for fonts, in a thread.
_LOADED_FIRST = {"matplotlib": ("matplotlib.pyplot",)}


@dataclass(frozen=True)
class AllowedPackages:
    """The packages that submissions may import, besides NumPy and `regex`."""

    names: tuple[str, ...] = ()  # as the course lists them
    versions: tuple[tuple[str, str], ...] = ()  # of what has to be installed for these names: package, version
    modules: tuple[str, ...] = ()  # that can be imported: these, and what they need
    folders: tuple[str, ...] = ()  # in which they are installed
    paths: tuple[Path, ...] = ()  # their files

    def child_setup(self) -> dict[str, Any]:
        """Return what the student's process needs to know of them; empty if there are none."""
        first = [*self.names, *(module for name in self.names for module in _LOADED_FIRST.get(name, ()))]
        return {"allowed": {"modules": self.modules, "folders": self.folders, "first": first}} if first else {}


@cache
def allowed_packages(names: tuple[str, ...]) -> AllowedPackages:
    """Return the packages of these names, as they are imported; raise UsageError if one cannot be allowed."""
    if not names:
        return AllowedPackages()
    from importlib import metadata  # takes 20 ms, and most courses allow none

    found = metadata.packages_distributions()
    for name in names:
        if name in _REFUSED:
            raise UsageError(f"[packages] allow: {name} is part of the grader and could give away answers")
        if name not in found or importlib.util.find_spec(name) is None:
            hint = "Install it beside Headway, or remove it from course.toml"
            raise UsageError(f"[packages] allow: nothing that is imported as {name} is installed here. {hint}")
    named = [metadata.distribution(found[name][0]) for name in names]
    seen: dict[str, metadata.Distribution] = {}
    for distribution in named:
        _add_with_needed(distribution, seen)
    paths = {Path(str(owner.locate_file(file.parts[0]))) for owner in seen.values() for file in owner.files or ()}
    paths = {path.resolve() for path in paths if path.name not in ("..", "__pycache__") and path.exists()}
    versions = tuple((distribution.name, distribution.version) for distribution in named)
    modules = tuple(sorted(module for module, owners in found.items() if not seen.keys().isdisjoint(owners)))
    folders = tuple(sorted({str(path.parent) for path in paths}))
    return AllowedPackages(names, versions, modules, folders, tuple(sorted(paths)))


def _add_with_needed(distribution: "metadata.Distribution", seen: "dict[str, metadata.Distribution]") -> None:
    """Add an installed distribution and those that it requires; optional ones (extras) are left out."""
    from importlib import metadata

    if distribution.name in seen:
        return
    seen[distribution.name] = distribution
    for requirement in distribution.requires or ():
        if "extra ==" not in requirement:
            name = re.split(r"[;\[<>=!~ (]", requirement, maxsplit=1)[0]
            with contextlib.suppress(metadata.PackageNotFoundError):  # Required on other systems only.
                _add_with_needed(metadata.distribution(name), seen)

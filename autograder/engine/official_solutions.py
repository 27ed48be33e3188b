"""Provide official solutions in folders: all of a course, or those in place of a submission's prerequisites."""

import py_compile
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from autograder.core.files import read_modules, secret_folder
from autograder.course import Curriculum, registry


def copy_official_solutions(curriculum: Curriculum, target: Path) -> None:
    """Copy the official solutions of a course to a folder."""
    for name, path in registry.official_files(curriculum).items():
        shutil.copyfile(path, target / name)


@contextmanager
def official_solutions(curriculum: Curriculum, parent: Path | None = None) -> Iterator[Path]:
    """Provide a folder with all official solutions of a course: that of its package, or a new one, in `parent`."""
    if parent is None and not registry.is_mixed(curriculum):
        yield registry.solutions(curriculum.package)
        return
    with secret_folder(parent) as folder:
        copy_official_solutions(curriculum, folder)
        yield folder


@cache
def _compiled(module: str, package: str) -> bytes:
    """Return the bytecode of an official solution: compiling it would take longer than most checks."""
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        target = Path(folder) / "module.pyc"
        source = registry.solution_path(module, package)
        # Python must not compare it with the source (PEP 552): the copy beside it is newer than any time recorded here.
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(target), doraise=True, invalidation_mode=mode)
        return target.read_bytes()


class OfficialPrerequisites:
    """Temporary folders, one per submission and assignment.

    A folder holds the official solutions of the earlier assignments, the student's module, and the student's files
    that are not assignments. Later assignments and their solutions are not in it. All are below `scratch`, if given.
    """

    def __init__(self, curriculum: Curriculum, scratch: Path | None = None) -> None:
        self._curriculum = curriculum
        self._resources = ExitStack()
        self._root = self._resources.enter_context(secret_folder(scratch))
        self._folders: dict[tuple[Path, str], Path] = {}

    def folder_for(self, submission: Path, module: str) -> Path:
        """Return the folder in which `module` of the submission is checked."""
        key = (submission, module)
        if key not in self._folders:
            folder = self._root / str(len(self._folders))
            folder.mkdir()
            self._fill(folder, submission, module)
            self._folders[key] = folder
        return self._folders[key]

    def _fill(self, target: Path, submission: Path, module: str) -> None:
        modules, package = self._curriculum.modules, self._curriculum.package
        given = self._curriculum.given_modules
        for file, content in read_modules(submission):
            name = file.removesuffix(".py")
            if name == module or name not in (*modules, *given):
                (target / file).write_bytes(content)
        earlier = [name for name, other in modules.items() if other.number < modules[module].number]
        for name in (*given, *earlier):
            shutil.copyfile(registry.solution_path(name, package), target / f"{name}.py")
        (target / "__pycache__").mkdir()
        functions = (function.qualified for function in modules[module].functions)
        needs = {need.partition(".")[0] for name in functions for need in self._curriculum.all_prerequisites(name)}
        for name in {*needs, *given} - {module}:
            compiled = target / "__pycache__" / f"{name}.{sys.implementation.cache_tag}.pyc"
            compiled.write_bytes(_compiled(name, package))

    def close(self) -> None:
        """Remove the folders."""
        self._resources.close()


def copy_with_official_functions(
    target: Path, folder: Path, module: str, functions: Collection[str], package: str
) -> None:
    """Copy a submission, with official functions in place of some of its own in `module`.

    The official module is copied under another name, where student code can read it: a check that passes with such a
    copy must not earn points, and no untrusted code may run beside it.
    """
    for name, content in read_modules(folder):
        (target / name).write_bytes(content)
    official = f"_official_{module}"
    shutil.copyfile(registry.solution_path(module, package), target / f"{official}.py")
    with (target / f"{module}.py").open("ab") as file:
        file.write(f"\nfrom {official} import {', '.join(sorted(functions))}\n".encode())

"""Provide official solutions in folders: all of a course, or those in place of a submission's prerequisites."""

import py_compile
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
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


_source = cache(lambda module, package: registry.solution_path(module, package).read_bytes())


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


@contextmanager
def official_prerequisites(
    curriculum: Curriculum, scratch: Path | None = None
) -> Iterator[Callable[[Path, str], Path]]:
    """Provide a function that returns the folder in which a module of a submission is checked.

    There is one temporary folder for each submission and assignment. It holds the official solutions of the earlier
    assignments, the student's module, and the student's files that are not assignments. Later assignments and their
    solutions are not in it. All are below `scratch`, if given.
    """
    with secret_folder(scratch) as root:
        numbers = count()

        @cache
        def folder_for(submission: Path, module: str) -> Path:
            folder = root / str(next(numbers))  # Grading leaves such a path out of what a student's code printed.
            folder.mkdir()
            _fill(folder, submission, module, curriculum)
            return folder

        yield folder_for


def _fill(target: Path, submission: Path, module: str, curriculum: Curriculum) -> None:
    modules, given, package = curriculum.modules, curriculum.given_modules, curriculum.package
    for file, content in read_modules(submission):
        name = file.removesuffix(".py")
        if name == module or name not in (*modules, *given):
            (target / file).write_bytes(content)
    earlier = [name for name, other in modules.items() if other.number < modules[module].number]
    for name in (*given, *earlier):
        (target / f"{name}.py").write_bytes(_source(name, package))
    (target / "__pycache__").mkdir()
    functions = (function.qualified for function in modules[module].functions)
    needs = {need.partition(".")[0] for name in functions for need in curriculum.all_prerequisites(name)}
    for name in {*needs, *given} - {module}:
        compiled = target / "__pycache__" / f"{name}.{sys.implementation.cache_tag}.pyc"
        compiled.write_bytes(_compiled(name, package))


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

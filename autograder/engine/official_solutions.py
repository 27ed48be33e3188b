"""Provide official solutions in folders: all of a course, or those in place of a submission's prerequisites."""

import py_compile
import shutil
from collections.abc import Callable, Collection, Iterator
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


@contextmanager
def official_prerequisites(curriculum: Curriculum, scratch: Path | None = None) -> Iterator[Callable[[str], Path]]:
    """Provide a function that returns the folder with the official solutions of the assignments before a module's.

    There is one temporary folder for each assignment, below `scratch`, if given. All submissions share it: no sandbox
    lets student code write.
    """
    with ExitStack() as resources:
        root = cache(lambda: resources.enter_context(secret_folder(scratch)))

        @cache
        def folder_before(module: str) -> Path:
            modules, number = curriculum.modules, curriculum.modules[module].number
            folder = root() / str(number)  # Grading leaves such a path out of what a student's code printed.
            folder.mkdir()
            earlier = [name for name, other in modules.items() if other.number < number]
            for name in (*curriculum.given_modules, *earlier):
                file = shutil.copyfile(registry.solution_path(name, curriculum.package), folder / f"{name}.py")
                py_compile.compile(str(file), doraise=True)  # A student's process could not keep the result.
            return folder

        yield folder_before


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

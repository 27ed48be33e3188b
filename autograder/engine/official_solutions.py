"""Provide all official solutions of a course in one folder, even if they come from two packages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.core.files import secret_folder
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

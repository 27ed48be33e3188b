"""Provide all official solutions of a course in one folder, even if they come from two packages."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.course import Curriculum, registry


def copy_official_solutions(curriculum: Curriculum, target: Path) -> None:
    """Copy the official solutions of a course to a folder."""
    for name, path in registry.official_files(curriculum).items():
        shutil.copyfile(path, target / name)


@contextmanager
def official_solutions(curriculum: Curriculum) -> Iterator[Path]:
    """Provide a folder with all official solutions of a course: that of its package, or a temporary one."""
    if not registry.is_mixed(curriculum):
        yield registry.solutions(curriculum.package)
        return
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        copy_official_solutions(curriculum, Path(folder))
        yield Path(folder)

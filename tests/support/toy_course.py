"""The course of `tests/toycourse`, installed as a third party's package."""

import shutil

from autograder.curriculum import registry
from support.paths import TESTS

TOY = TESTS / "toycourse"


def install(folder, point="toycourse:COURSE", package=TOY):
    """Write what an installer leaves behind into `folder`: the package, and a .dist-info folder with entry points."""
    about = folder / "toycourse-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toycourse\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\ntoy = {point}\n")
    if package is not None:
        shutil.copytree(package, folder / "toycourse", ignore=shutil.ignore_patterns("__pycache__"))
    return folder

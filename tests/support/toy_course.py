"""The courses in `tests/toycourse` and `tests/mixedcourse`, installed as a third party's packages."""

import json
import shutil

from autograder.course import registry
from support.paths import TESTS
from support.reading import checks_of

TOY = TESTS / "toycourse"
MIXED = TESTS / "mixedcourse"


def install(folder, point="toycourse:COURSE", package=TOY, name="toy"):
    """Write what an installer leaves behind into `folder`: the package, and a .dist-info folder with entry points."""
    distribution = point.partition(":")[0]
    about = folder / f"{distribution}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{name} = {point}\n")
    if package is not None:
        shutil.copytree(package, folder / distribution, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def install_mixed(folder):
    """Install the course that reuses an assignment of the built-in course."""
    return install(folder, "mixedcourse:COURSE", MIXED, "mixed")


def check_json(headway, work):
    """Check a workspace with the given command; return its checks by id."""
    done = headway("check", "--json", "-", cwd=work)
    assert done.returncode in (0, 1), done.stderr
    return {check["id"]: check for check in checks_of(json.loads(done.stdout))}

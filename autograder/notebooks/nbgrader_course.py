"""An nbgrader course: made from the solutions, and written so that a second release keeps later changes.

nbgrader_config.py                      the course's settings
source/softmax/softmax.ipynb            the instructor's notebook: lessons, solutions, graded cells
source/attention/softmax.py, …          official solutions of the earlier assignments that an assignment imports

A manifest in the course's folder holds the fingerprint of every file as it was written, and the seed of the hidden
inputs, so that they stay the same. Running and saving a notebook does not count as a change: only cells are compared.
"""

import contextlib
import hashlib
import importlib.resources
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.core.files import write_atomically
from autograder.course import Curriculum, registry
from autograder.course.model import reachable
from autograder.engine import session
from autograder.errors import HeadwayError
from autograder.notebooks import student_notebooks

Prerequisites = Literal["official", "none"]
SETTINGS = "nbgrader_config.py"
SETTINGS_TO_COPY = "nbgrader_config.headway.py"  # written next to an instructor's own settings
MANIFEST = ".headway-release.json"
_REPAIR = "autograder.notebooks.nbgrader_preprocessor.RepairCells"


def course_files(
    solutions: Path, curriculum: Curriculum, include: Prerequisites, hidden_seed: int, own: bytes | None = None
) -> dict[str, str]:
    """Return the text of each file of the course; with `include`, also official solutions of earlier assignments.

    `own` are the settings that an instructor has already; what they lack comes in a file to copy it from.
    """
    templates = importlib.resources.files("autograder.notebooks") / "templates"
    names = "nbgrader_repair.txt", "nbgrader_course.txt", "header.md"
    repair, course, header = ((templates / name).read_text("utf-8") for name in names)
    points = possible_points(solutions, curriculum)
    files = {SETTINGS: f"{repair}\n{course}"}
    if own is not None and _REPAIR.encode() not in own:
        files[SETTINGS_TO_COPY] = repair
    for module in curriculum.modules:
        text = (solutions / f"{module}.py").read_text("utf-8")
        notebook = student_notebooks.instructor_notebook(text, module, points, curriculum, hidden_seed, header)
        files[f"source/{module}/{module}.ipynb"] = notebook
        for earlier in _prerequisites(module, curriculum) if include == "official" else ():
            files[f"source/{module}/{earlier}.py"] = (solutions / f"{earlier}.py").read_text("utf-8")
    return files


def _prerequisites(module: str, curriculum: Curriculum) -> list[str]:
    """Return all earlier modules that a module needs, in course order."""
    known = [*curriculum.given_modules, *curriculum.modules]
    needed = reachable([module], lambda name: registry.imported_names(name, curriculum.package))
    return [name for name in known if name in needed - {module}]


def possible_points(solutions: Path, curriculum: Curriculum) -> dict[str, float]:
    """Return each function's possible points from a check of the solutions; raise HeadwayError if they do not pass."""
    result = session.check("solutions", solutions, session.Options(curriculum=curriculum))
    if not result.passed:
        raise HeadwayError("the solutions do not pass their own checks: headway verify")
    points = dict.fromkeys(curriculum.functions, 0.0)
    for check in result.checks:
        points[check.function] += check.possible
    return points


@dataclass
class WrittenFiles:
    """The names of the files of a release, by what was done with them."""

    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # changed or created by somebody, and left as they are
    removed: list[str] = field(default_factory=list)  # unchanged files that the course no longer has


def released_seed(folder: Path) -> int | None:
    """Return the seed of the hidden inputs of the course in `folder`; None if no course was released there."""
    seed = _read_manifest(folder).get("seed")
    return seed if isinstance(seed, int) else None


def write_release(folder: Path, files: dict[str, str], seed: int) -> WrittenFiles:
    """Write a course, or update an earlier release of it; raise OSError if a file cannot be written."""
    known = _read_manifest(folder).get("files")
    before: dict[str, str] = known if isinstance(known, dict) else {}
    after, done = dict(before), WrittenFiles()
    for name, text in files.items():
        current, new = _read_text(folder / name), _fingerprint(name, text)
        if current is not None and _fingerprint(name, current) not in (new, before.get(name)):
            done.kept.append(name)
            continue
        if current != text:
            write_atomically(folder / name, text.encode())
        after[name] = new
        done.written.append(name)
    for name in before.keys() - files.keys():
        current, fingerprint = _read_text(folder / name), after.pop(name)
        if current is not None and _fingerprint(name, current) == fingerprint:
            (folder / name).unlink()
            done.removed.append(name)
    manifest = {"seed": seed, "files": dict(sorted(after.items()))}
    write_atomically(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return done


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _fingerprint(name: str, text: str) -> str:
    """Return the SHA-256 of a file's text; of a notebook, that of its cells without outputs."""
    if name.endswith(".ipynb"):
        # A damaged notebook counts as changed.
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            text = repr([_cell_content(cell) for cell in json.loads(text)["cells"]])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _cell_content(cell: dict[str, Any]) -> tuple[Any, str, Any]:
    nbgrader = cell.get("metadata", {}).get("nbgrader")
    return cell["cell_type"], "".join(cell["source"]), nbgrader and sorted(nbgrader.items())

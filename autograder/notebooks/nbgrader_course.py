"""An nbgrader course generated from the solutions.

nbgrader_config.py                      the course's settings
source/softmax/softmax.ipynb            the instructor's notebook: lessons, solutions, graded cells
source/attention/softmax.py, …          official solutions of the earlier assignments that an assignment imports
"""

import importlib.resources
from pathlib import Path
from typing import Literal

from autograder.course import Curriculum, registry
from autograder.course.model import reachable
from autograder.engine import session
from autograder.errors import HeadwayError
from autograder.notebooks import student_notebooks

Prerequisites = Literal["official", "none"]
SETTINGS = "nbgrader_config.py"
SETTINGS_TO_COPY = "nbgrader_config.headway.py"  # written next to an instructor's own settings
_REPAIR = "autograder.notebooks.nbgrader_preprocessor.RepairCells"
_WHOLE_COURSE = "# For the whole course:\n"  # the settings below it are not for a course that somebody has


def course_files(solutions: Path, curriculum: Curriculum, include: Prerequisites, hidden_seed: int) -> dict[str, str]:
    """Return the text of each file of the course; with `include`, also official solutions of earlier assignments."""
    templates = importlib.resources.files("autograder.notebooks") / "templates"
    config, header = ((templates / name).read_text("utf-8") for name in ("nbgrader_config.txt", "header.md"))
    points = possible_points(solutions, curriculum)
    files = {SETTINGS: config}
    for module in curriculum.modules:
        text = (solutions / f"{module}.py").read_text("utf-8")
        notebook = student_notebooks.instructor_notebook(text, module, points, curriculum, hidden_seed, header)
        files[f"source/{module}/{module}.ipynb"] = notebook
        for earlier in _prerequisites(module, curriculum) if include == "official" else ():
            files[f"source/{module}/{earlier}.py"] = (solutions / f"{earlier}.py").read_text("utf-8")
    return files


def adapt_to_settings(files: dict[str, str], own: bytes) -> None:
    """Add the settings that an instructor should copy into their own, unless they are there."""
    if _REPAIR.encode() not in own:
        files[SETTINGS_TO_COPY] = files[SETTINGS].partition(_WHOLE_COURSE)[0].rstrip() + "\n"


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

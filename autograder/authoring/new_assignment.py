"""Write the skeleton of an assignment into a course, and make the course if there is none."""

import importlib.resources
import importlib.util
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.problems import problem_with_name
from autograder.core.files import report_write_error, write_atomically
from autograder.course import registry
from autograder.errors import UsageError

MARKER = "    # headway new-assignment adds assignments above this line."
BUILT_IN = Path("autograder/courses/transformer")  # the built-in course in a clone of Headway's repository
_FILES = ("__init__.py", "checks.py", "reference.py", "mistakes.py", "promises.toml", "hints.toml")  # of an assignment
_OF_BUILT_IN = ("figures.py", "glossary.toml")  # what an assignment of the built-in course has, too
_SUBMISSIONS = {"right_loops": "right/loops", "right_one_liners": "right/one_liners", "beginners": "beginners"}
_ANOTHER_FOLDER = "Name another folder: headway new-assignment NAME --course DIR"


@dataclass(frozen=True)
class Project:
    """The folder of a course that pip can install, or of Headway's repository with the built-in course."""

    root: Path
    package: Path  # the folder of its Python package
    course: str  # its name, given to `--curriculum`
    is_new: bool = False
    is_clone: bool = False  # of Headway's repository, whose solutions and submissions are outside of the package


def create(folder: Path, name: str, title: str = "") -> list[str]:
    """Write the skeleton of the assignment `name` into the course in `folder`; return lines for the user."""
    if problem := problem_with_name(name):
        raise UsageError(problem)
    if name in registry.default().modules:
        reuse = f"To reuse it in a course: built_in_assignments({name!r}). Otherwise choose another name"
        raise UsageError(f"Headway has an assignment {name!r}. {reuse}")
    project = find_project(folder)
    title = " ".join(title.split()).replace('"', "'") or name.replace("_", " ").capitalize()
    files = {path: _fill(part, name, title, project) for part, path in _part_paths(name, project).items()}
    if taken := [path for path in files if path.exists()]:
        raise UsageError(f"{taken[0]} already exists. Choose another name, or delete it first")
    declaration = project.package / "__init__.py"
    text = _fill("course", name, title, project) if project.is_new else declaration.read_text("utf-8")
    if is_declared := MARKER in text:
        before, marker, after = text.rpartition(MARKER)
        files[declaration] = f'{before}    "{name}",\n{marker}{after}'
    for path, content in sorted(files.items()):
        with report_write_error(path, _ANOTHER_FOLDER):
            write_atomically(path, content.encode())
    lines = [f"wrote {path}" for path in sorted(files)]
    if not is_declared:
        lines.append(f'Name the assignment in {declaration}, where it belongs in the order: course(…, "{name}", …)')
    last = "Then replace what the comments in each file say, and verify again"
    if project.is_clone:
        last, commands = f"{last}: see docs/contributing/assignment.md", ["make regenerate", f"headway verify {name}"]
    else:
        install = [f"pip install -e {project.root}"] if project.is_new else []
        commands = [*install, f"headway verify --curriculum {project.course}"]
    return [*lines, "Next:", *(f"    {command}" for command in commands), f"{last}."]


def find_project(folder: Path) -> Project:
    """Return the course in a folder, or the one that can be made there; raise UsageError if neither is possible."""
    if (folder / BUILT_IN / "__init__.py").is_file() and (folder / "solutions").is_dir():
        return Project(folder, folder / BUILT_IN, registry.DEFAULT, is_clone=True)
    if (folder / "__init__.py").is_file() and not (folder / "pyproject.toml").is_file():  # the package itself
        folder = folder.resolve().parent
    settings = folder / "pyproject.toml"
    if settings.is_file():
        return _existing_project(folder, settings)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. {_ANOTHER_FOLDER}")
    if folder.is_dir() and any(not path.name.startswith((".", "README", "LICENSE")) for path in folder.iterdir()):
        raise UsageError(f"{folder} is neither empty nor a course: it has no pyproject.toml. {_ANOTHER_FOLDER}")
    name = re.sub(r"\W+", "_", folder.resolve().name).lower()
    if not name.isidentifier() or name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None:
        raise UsageError(f"a Python package cannot be named {name!r}, like its folder. {_ANOTHER_FOLDER}")
    return Project(folder, folder / name, name, is_new=True)


def _existing_project(folder: Path, settings: Path) -> Project:
    try:
        courses = tomllib.loads(settings.read_text("utf-8"))["project"]["entry-points"][registry.GROUP]
        ((course, value),) = courses.items()
        module = value.partition(":")[0].strip()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        entry = f'[project.entry-points."{registry.GROUP}"] with a line such as mine = "my_package:COURSE"'
        raise UsageError(f"{settings} does not declare exactly one course. Add: {entry}") from None
    for parent in (folder, folder / "src"):
        package = parent.joinpath(*module.split("."))
        if (package / "__init__.py").is_file():
            return Project(folder, package, course)
    raise UsageError(f"{settings} names the package {module!r}, which is not in {folder}. Correct the name")


def _part_paths(name: str, project: Project) -> dict[str, Path]:
    paths = {file: project.package / name / file for file in _FILES}
    paths["solution"] = (project.root if project.is_clone else project.package) / "solutions" / f"{name}.py"
    if project.is_new:
        paths["pyproject.toml"] = project.root / "pyproject.toml"
    if project.is_clone:
        submissions = project.root / "tests" / "submissions"
        paths |= {file: project.package / name / file for file in _OF_BUILT_IN}
        paths |= {part: submissions / folder / f"{name}.py" for part, folder in _SUBMISSIONS.items()}
    return paths


def _fill(part: str, name: str, title: str, project: Project) -> str:
    """Return a part of the skeleton with its placeholders filled in."""
    text = importlib.resources.files(__package__).joinpath("skeleton", f"{part}.txt").read_text("utf-8")
    package = ".".join(project.package.relative_to(project.root).parts).removeprefix("src.")
    values = {
        "@NAME@": name,
        "@TITLE@": title,
        "@COURSE@": project.course,
        "@PACKAGE@": package,
        "@DISTRIBUTION@": package.replace("_", "-"),
    }
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text

"""Write the skeleton of an assignment into the built-in course, in a clone of Headway's repository."""

from pathlib import Path

from autograder.authoring.new_assignment import (
    MARKER,
    Project,
    assignment_files,
    clean_title,
    fill,
    require_free_name,
    require_new,
    with_assignment,
)
from autograder.core.files import write_atomically
from autograder.errors import UsageError

COURSE = Path("autograder/courses/transformer")
_NEXT = (
    "Next:",
    "    make regenerate",
    "    headway verify {name}",
    "Then replace what the comments in each file say, and verify again: see docs/contributing/assignment.md.",
)


def is_clone(folder: Path) -> bool:
    """Return whether a folder is a clone of Headway's repository."""
    return (folder / COURSE / "__init__.py").is_file() and (folder / "solutions").is_dir()


def create(root: Path, name: str, title: str = "") -> list[str]:
    """Write the files of an assignment, and name it at the end of the course; return lines for the user."""
    require_free_name(name)
    title = clean_title(title, name)
    project = Project(root, root / COURSE, "transformer", is_new=False)
    files = assignment_files(name, title, project)
    files[root / "solutions" / f"{name}.py"] = files.pop(root / COURSE / "solutions" / f"{name}.py")
    submissions = root / "tests" / "submissions"
    for style in ("loops", "one_liners"):
        files[submissions / "right" / style / f"{name}.py"] = fill(f"right_{style}", name, title, project)
    files[submissions / "beginners" / f"{name}.py"] = fill("beginners", name, title, project)
    require_new(files)
    declaration = root / COURSE / "__init__.py"
    text = declaration.read_text("utf-8")
    if MARKER not in text:
        raise UsageError(f"{declaration} has no line {MARKER.strip()!r}. Add it below the last assignment")
    files[declaration] = with_assignment(text, name)
    for path, content in files.items():
        write_atomically(path, content.encode())
    written = [f"wrote {path.relative_to(root)}" for path in sorted(files)]
    return [*written, *(line.format(name=name) for line in _NEXT)]

"""Write the skeleton of an assignment into the built-in course, in a clone of Headway's repository."""

from pathlib import Path

from autograder.authoring.new_assignment import (
    Project,
    assignment_files,
    clean_title,
    fill,
    require_free_name,
    require_new,
)
from autograder.core.files import write_atomically
from autograder.errors import UsageError

COURSE = Path("autograder/courses/transformer")
# File, part of the skeleton, and the text at the beginning of the line where the table ends.
_TABLES = (
    ("__init__.py", "built_in_course", '    ),\n    name="transformer",'),
    ("effort.py", "built_in_effort", "}"),
    ("outcomes.py", "built_in_outcomes", "}"),
)
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
    """Write the files of an assignment, and its entries at the end of each table; return lines for the user."""
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
    for table, part, end in _TABLES:
        path = root / COURSE / table
        files[path] = _with_entry(path, end, fill(part, name, title, project))
    for table, part in (("hints.toml", "hints"), ("glossary.toml", "glossary")):
        text = (root / COURSE / table).read_text("utf-8").rstrip()
        files[root / COURSE / table] = f"{text}\n\n{fill(part, name, title, project)}"
    for path, content in files.items():
        write_atomically(path, content.encode())
    written = [f"wrote {path.relative_to(root)}" for path in sorted(files)]
    return [*written, *(line.format(name=name) for line in _NEXT)]


def _with_entry(path: Path, end: str, entry: str) -> str:
    """Return the text of a table with an entry before its end."""
    before, found, after = path.read_text("utf-8").rpartition(f"\n{end}")
    if not found:
        raise UsageError(f"the end of the table in {path} was not found. Add the entry yourself:\n{entry}")
    return f"{before}\n{entry.rstrip()}{found}{after}"

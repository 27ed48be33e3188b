"""Problems in the files of a course, each with its file and line, and in the name of an assignment."""

import ast
import keyword
import sys
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.server import IMPORTABLE

PAGES = ("index", "glossary", "commands", "train")  # of a course's website


@dataclass(frozen=True)
class Problem:
    """A rule that a course does not keep."""

    path: Path
    line: int  # 0 if it is not about a line
    text: str  # what is wrong, and what to do

    def __str__(self) -> str:
        here = Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        return f"{path}:{self.line}: {self.text}" if self.line else f"{path}: {self.text}"


def line_with(path: Path, text: str) -> int:
    """Return the number of the first line of a file that contains a text; 0 if there is none."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    return next((number for number, line in enumerate(lines, 1) if text in line), 0)


def parse(path: Path) -> ast.Module | Problem:
    """Return the syntax tree of a Python file of the course, or why there is none."""
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError as error:
        return Problem(path, error.lineno or 0, f"this is not valid Python: {error.msg}. Fix this line")
    except (OSError, ValueError) as error:
        return Problem(path, 0, f"Python cannot read this file ({error}). Save it as UTF-8 text")


def problem_with_name(name: str) -> str:
    """Return why an assignment cannot have a name, and what to do; empty if it can."""
    if keyword.iskeyword(name):
        return f"an assignment cannot be named {name!r}, because it is a word of the Python language. Rename it"
    if not name.isidentifier() or name.startswith("_"):
        return f"an assignment cannot be named {name!r}. Use letters, digits and underscores, beginning with a letter"
    if name in sys.stdlib_module_names or name in IMPORTABLE:
        return f"an assignment cannot be named {name!r}, because there is a Python module of that name. Rename it"
    if name in PAGES:
        return f"an assignment cannot be named {name!r}, because the website has a page of that name. Rename it"
    return ""

"""Problems in the files of a course, each with its file and line."""

import ast
from dataclasses import dataclass
from pathlib import Path


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

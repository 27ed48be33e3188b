"""The documentation of a function in the terminal: its first line and its docstring, highlighted."""

import re
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from autograder.report import styles

FULL_WIDTH = 100  # columns of a line in a docstring to which no further word was added
_ENTRY = re.compile(r"^ {4,}(?P<it>[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)(?=: )")  # of Args or Raises
# What stands out: the name that is defined, the headings of sections, names of arguments, code, shapes and exceptions.
_HIGHLIGHTS = (
    (re.compile(r"^def (?P<it>\w+)"), "bold"),
    (re.compile(r"^(?P<it>def) "), styles.BLUE),
    (re.compile(r"^ *(?P<it>(?:Args|Returns|Raises|Yields|Examples?|Notes?):)$"), f"bold {styles.BLUE}"),
    (_ENTRY, styles.GREEN),
    (re.compile(r"(?P<it>`[^`]+`)"), "bold"),
    (re.compile(r"(?P<it>\((?:\.\.\., |[A-Za-z0-9_]+, ?)+[A-Za-z0-9_]*\))"), styles.ORANGE),
    (re.compile(r"\b(?P<it>[A-Z]\w+Error)\b"), styles.VERMILION),
)


def panel(title: str, text: str) -> Panel:
    """Return the documentation of a function, in a frame."""
    return Panel(Group(*_lines(text)), title=Text(f" {title} "), title_align="left", border_style="dim")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines, those joined that were broken only because they were too long for the file."""
    paragraph, width = "", 0  # and the width of its last line in the file
    for line in text.rstrip().split("\n"):
        words = line.split()
        is_table = "  " in line.strip() or "  " in paragraph.strip()  # columns, such as those of formulas
        is_entry = _ENTRY.match(line) and line[: -len(line.lstrip())] == paragraph[: -len(paragraph.lstrip())]
        if words and width + 1 + len(words[0]) > FULL_WIDTH and not is_table and not is_entry:
            paragraph += " " + " ".join(words)
        else:
            if width:
                yield paragraph
            paragraph = line
            if not line:
                yield ""
        width = len(line)
    yield paragraph


def _lines(text: str) -> Iterator[RenderableType]:
    """Yield a signature with its docstring; where a line wraps, the rest keeps its indentation."""
    for line in _paragraphs(text):
        stripped = line.lstrip()
        shown = Text(stripped)
        indentation = len(line) - len(stripped)
        for pattern, style in _HIGHLIGHTS:
            for match in pattern.finditer(line):
                shown.stylize(style, match.start("it") - indentation, match.end("it") - indentation)
        yield Padding(shown, (0, 0, 0, indentation)) if indentation else shown

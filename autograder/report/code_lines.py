"""The lines of a student's code, with marks where checks failed. Code is text here: nothing parses it.

A check that compares values names the line where its function begins, so its excerpt is the function. The end of the
function is found by its indentation. If that is wrong, the excerpt is only too long or too short.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from autograder.core.text import clean
from autograder.documents.reading import Document
from autograder.report.wording import FAILED_STATUSES

AROUND = 3  # lines shown before and after a marked one
MAX_EXCERPT = 40  # lines of a function
MAX_FUNCTION = 400  # lines in which the end of a function is looked for
MAX_LINE = 400  # characters
_QUOTES = ('"""', "'''")


class Note(NamedTuple):
    """A failure or a comment at a line."""

    function: str  # empty: a comment
    text: str


@dataclass
class ShownLine:
    """A line of code; a line without a number represents lines that are left out."""

    number: int | None
    text: str
    status: str = ""  # of the most urgent check that failed here, or "calls" for a line that led to one
    notes: list[Note] = field(default_factory=list)


@dataclass
class CodeFile:
    """A module, or what a cell of a notebook contains of it."""

    module: str
    name: str  # "softmax.py" or "cell 3", as in the locations of checks
    lines: list[ShownLine]

    @cached_property
    def index(self) -> dict[int, int]:
        """Where each line is in `lines`, by number, once all are there."""
        numbers = {line.number: i for i, line in reversed(list(enumerate(self.lines)))}
        return {number: i for number, i in numbers.items() if number is not None}

    @property
    def title(self) -> str:
        """The name that tells the cells of several notebooks apart."""
        return self.name if self.name == f"{self.module}.py" else f"{self.module} notebook, {self.name}"


def code_files(
    code: Document | None, findings: Iterable[Document] = (), comments: Iterable[Document] = ()
) -> list[CodeFile]:
    """Return all stored code of a student, with the findings and comments at their lines."""
    files: list[CodeFile] = []
    for module, parts in (code["modules"] if code else {}).items():
        by_name: dict[str, CodeFile] = {}
        for part in parts:
            file = by_name.setdefault(part["file"], CodeFile(clean(module, 80), clean(part["file"], 80), []))
            if file.lines and (file.lines[-1].number or 0) + 1 < part["line"]:
                file.lines.append(ShownLine(None, ""))
            texts = part["text"].split("\n")
            file.lines += [ShownLine(part["line"] + i, shown_text(text)) for i, text in enumerate(texts)]
        files += by_name.values()
    for check in findings:
        note = Note(check["function"], clean(check["mistake"]["title"] if check["mistake"] else check["message"], 300))
        places = [(check["location"], check["status"]), (check["called_from"], "calls")] if check["location"] else []
        for location, status in places:
            if location and (found := find_line(files, check["function"], location)) is not None:
                line = found[0].lines[found[1]]
                line.status = line.status if line.status in FAILED_STATUSES else status
                line.notes += [note] if status != "calls" and note not in line.notes else []
    for comment in comments:
        if (commented := _commented_line(files, comment)) is not None:
            commented.status = commented.status or "comment"
            commented.notes.append(Note("", clean(comment["text"])))
    return files


def find_line(files: list[CodeFile], function: str, location: Document) -> tuple[CodeFile, int] | None:
    """Return the file of a location and the index of its line; cells are looked for in the function's module first."""
    module = function.partition(".")[0]
    for file in sorted(files, key=lambda file: file.module != module):
        if file.name == location["file"] and location["line"] in file.index:
            return file, file.index[location["line"]]
    return None


def excerpt(files: list[CodeFile], check: Document) -> tuple[str, list[ShownLine]]:
    """Return the lines to show with a failed check, and where they are; the check's own lines are marked.

    Without stored code, it is the one line that the result document holds.
    """
    location = check["location"]
    if not location:
        return "", []
    found = find_line(files, check["function"], location)
    if found is None:
        text = clean(location["text"], MAX_LINE)
        return clean(location["file"], 80), [ShownLine(location["line"], text, check["status"])] if text else []
    file, index = found
    start, end = max(0, index - AROUND), index + MAX_FUNCTION
    plain = [ShownLine(line.number, line.text) for line in file.lines[start:end]]
    index -= start
    plain[index].status = check["status"]
    if plain[index].text.lstrip().startswith(("def ", "async def ", "@", "class ")):
        return file.title, _function(plain, index)
    return file.title, _trimmed(plain[: index + AROUND + 1])


def commented_lines(files: list[CodeFile], comment: Document) -> tuple[str, list[ShownLine]]:
    """Return the lines around the one that a comment is about, and where they are; none if it is about no line.

    If the line has changed since, it is the text that it had.
    """
    place = {"function": comment["assignment"], "location": comment["location"], "status": "comment"}
    where, lines = excerpt(files, place)
    return (f"{where}, before it was changed", excerpt([], place)[1]) if is_changed(files, comment) else (where, lines)


def is_changed(files: list[CodeFile], comment: Document) -> bool:
    """Return whether the line that a comment is about is not in the code any more, as far as code is stored."""
    return bool(comment["location"] and files) and _commented_line(files, comment) is None


def _commented_line(files: list[CodeFile], comment: Document) -> ShownLine | None:
    """Return the line that a comment is about; None if it is about none, or the line is not in the code any more."""
    location = comment["location"]
    found = find_line(files, comment["assignment"], location) if location else None
    line = found[0].lines[found[1]] if found else None
    return line if line and line.text == location["text"] else None


class Excerpts:
    """Returns the lines to show with each finding; lines that were shown are not repeated."""

    def __init__(self, files: list[CodeFile]) -> None:
        self._files = files
        self._shown: set[tuple[str, int | None, int | None]] = set()

    def __call__(self, check: Document) -> tuple[str, list[ShownLine]]:
        """Return where the lines are, and the lines; none if they were shown before."""
        where, lines = excerpt(self._files, check)
        if lines:
            place = (where, lines[0].number, lines[-1].number)
            if place in self._shown:
                return "", []
            self._shown.add(place)
        return where, lines


def shown_text(text: str) -> str:
    """Return a line of code as it is shown."""
    return clean(text.expandtabs(4), MAX_LINE)


def _function(lines: list[ShownLine], index: int) -> list[ShownLine]:
    """Return the lines of the function that begins at `index`, without its docstring."""
    depth = _indent(lines[index].text)
    end = index + 1
    in_head = not lines[index].text.rstrip().endswith(":")
    for i in range(index + 1, len(lines)):
        text = lines[i].text
        if lines[i].number is None:
            break
        if text.strip() and _indent(text) <= depth and not in_head and not text.lstrip().startswith((")", "#")):
            break
        in_head = in_head and not text.rstrip().endswith(":")
        end = i + 1
    while end > index + 1 and _is_comment_after(lines[end - 1], depth):
        end -= 1
    body = _without_docstring(_trimmed(lines[index:end]))
    return body if len(body) <= MAX_EXCERPT else [*body[: MAX_EXCERPT - 1], ShownLine(None, "")]


def _is_comment_after(line: ShownLine, depth: int) -> bool:
    """Return whether a line is empty or a comment that is indented no more than the function above it."""
    text = line.text.strip()
    return not line.status and (not text or (text.startswith("#") and _indent(line.text) <= depth))


def _without_docstring(lines: list[ShownLine]) -> list[ShownLine]:
    start = next((i for i, line in enumerate(lines[1:], 1) if line.text.strip().lstrip("rRuUbB")[:3] in _QUOTES), None)
    if start is None or not lines[0].text.rstrip().endswith(":") or any(line.text.strip() for line in lines[1:start]):
        return lines
    quotes = lines[start].text.strip().lstrip("rRuUbB")[:3]
    if lines[start].text.count(quotes) > 1:
        return [*lines[:start], *lines[start + 1 :]]
    end = next((i for i in range(start + 1, len(lines)) if quotes in lines[i].text), None)
    return lines if end is None else [*lines[:start], ShownLine(None, ""), *lines[end + 1 :]]


def _trimmed(lines: list[ShownLine]) -> list[ShownLine]:
    """Return lines without empty ones at both ends."""
    shown = [i for i, line in enumerate(lines) if line.text.strip() or line.status]
    return lines[shown[0] : shown[-1] + 1] if shown else []


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())

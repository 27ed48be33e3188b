"""The cells of a workspace file, which a lesson page edits one by one: the text between two `# %%` lines.

Blank lines around a cell's text belong to the file: they are neither shown nor changed. Everything outside of the
edited cell keeps its bytes, whatever the file's line endings.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from autograder.course import Curriculum
from autograder.errors import UsageError
from autograder.workspace import files
from autograder.workspace.dependencies import MAX_BYTES, ModuleSource
from autograder.workspace.function_source import function_text, replace_function

MARKER = re.compile(r"#[ \t]*%%(?:[\s%]|$)")  # the first line of a cell in jupytext's percent format
_DEFINITION = re.compile(r"(?m)^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_TOO_LARGE = f"larger than {MAX_BYTES >> 20} MiB"


@dataclass(frozen=True)
class FileCell:
    """One cell: its text, with plain newlines, and its lines in the file as a 0-based range."""

    text: str
    start: int
    end: int
    is_lesson: bool = False

    @property
    def line(self) -> int:
        """The number of its first line in the file."""
        return self.start + 1

    @cached_property
    def digest(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @cached_property
    def definitions(self) -> frozenset[str]:
        """The names that the cell defines at the top level; of unreadable code, those on lines with `def`."""
        parsed = ModuleSource("", self.text.encode("utf-8", "surrogatepass")).parsed
        return frozenset(_DEFINITION.findall(self.text) if parsed.error else parsed.definitions)


class ChangedMeanwhile(UsageError):
    """A file was not written, because another program has changed it since it was read."""


class FileCells:
    """The cells of one assignment's file, as it was when it was read."""

    def __init__(self, folder: Path, module: str, curriculum: Curriculum) -> None:
        self._path, self._module, self._curriculum = folder / f"{module}.py", module, curriculum
        self._content = _read(self._path)
        text = files.decode(self._path, self._content)
        self._source = text.removeprefix("\ufeff")
        self._byte_order_mark = text[: len(text) - len(self._source)]
        self.cells = split_cells(self._source)
        self.functions = curriculum.function_names[module]  # unqualified
        self._mentioned = {name for name in self.functions if name in self._source}

    def find(self, function: str, digest: str = "") -> FileCell | None:
        """Return the cell of a function by its unqualified name, or None.

        A cell that does not define it, such as one in which its name is being changed, is found by its digest, or else
        by the lesson text above it.
        """
        if function in self._mentioned:  # The last definition is the one that Python uses.
            for cell in reversed(self.cells):
                if function in cell.text and function in cell.definitions:
                    return cell
        unnamed = [cell for cell in self.cells if not cell.is_lesson and not cell.definitions & self._mentioned]
        by_digest = [cell for cell in unnamed if cell.digest == digest]
        if len(by_digest) == 1:
            return by_digest[0]
        for lesson, stub_cell in pairwise(self._stub_cells()):
            if lesson.is_lesson and function in stub_cell.definitions:
                below = [cell for above, cell in pairwise(self.cells) if above.text == lesson.text]
                return below[0] if len(below) == 1 and below[0] in unnamed else None
        return None

    def require(self, function: str, digest: str = "") -> FileCell:
        """Return the cell of a function; raise UsageError if there is none."""
        if (cell := self.find(function, digest)) is None:
            raise UsageError(f"{self._path.name} has no function {function} any more. Reset {function} to restore it")
        return cell

    def shared_with(self, function: str, cell: FileCell) -> list[str]:
        """Return the qualified names of the other functions in the cell of a function."""
        others = [name for name in self.functions if name != function and name in cell.definitions]
        return [f"{self._module}.{name}" for name in others if self.find(name) == cell]

    def overwrite(self, cell: FileCell, text: str) -> FileCell:
        """Write the file with a new text in a cell, and return the new cell."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if marker := next((line for line in lines if MARKER.match(line)), None):
            raise UsageError(f"not saved: the line {marker[:40]!r} would begin a new cell. Remove the %% from it")
        new = split_cells("\n".join(lines))[0].text
        old_lines = self._source.split("\n")
        before, after = old_lines[: cell.start], old_lines[cell.end :]
        carriage_return = "\r" if 2 * self._source.count("\r\n") > len(old_lines) - 1 > 0 else ""
        written = [line + carriage_return for line in new.split("\n")] if new else []
        if written and not after:  # The last line of a file without a final newline has no line ending.
            written[-1] = written[-1].removesuffix("\r")
        self._write("\n".join([*before, *written, *after]))
        return FileCell(new, cell.start, cell.start + len(written), cell.is_lesson)

    def text_with_stub(self, function: str, cell: FileCell) -> str:
        """Return the text of the cell of a function with its stub restored, and the rest of the cell if readable."""
        stub = next(cell.text for cell in self._stub_cells() if function in cell.definitions)
        if function in cell.definitions:
            new = replace_function(cell.text, function, function_text(stub, function))
            if new is not None:
                return new
        if others := self.shared_with(function, cell):
            names = ", ".join(others)
            raise UsageError(f"Python cannot read the cell, and {names} would be reset, too. Undo the latest edit")
        return stub

    def _stub_cells(self) -> list[FileCell]:
        return split_cells(files.stub_text(self._module, self._curriculum))

    def _write(self, source: str) -> None:
        if source == self._source:
            return
        try:
            content = (self._byte_order_mark + source).encode()
        except UnicodeEncodeError:
            raise UsageError("not saved: the text has half of a character (a lone surrogate). Remove it") from None
        if len(content) > MAX_BYTES:
            raise UsageError(f"not saved: {self._path.name} would be {_TOO_LARGE}. Shorten the text")
        if _read(self._path) != self._content:
            raise ChangedMeanwhile(f"not saved: another program has just changed {self._path.name}. Try again")
        files.write_bytes(self._path, content)


def split_cells(source: str) -> list[FileCell]:
    """Return the cells of a source; a source without `# %%` lines is one cell."""
    lines = [line.removesuffix("\r") for line in source.split("\n")]
    markers = [number for number, line in enumerate(lines) if MARKER.match(line)]
    cells = []
    for marker, end in zip([-1, *markers], [*markers, len(lines)], strict=True):
        start = marker + 1
        while end > start and not lines[end - 1].strip():
            end -= 1
        while start < end and not lines[start].strip():
            start += 1
        is_lesson = marker >= 0 and "[markdown]" in lines[marker]
        cells.append(FileCell("\n".join(lines[start:end]), start, end, is_lesson))
    return cells


def _read(path: Path) -> bytes:
    """Return the content of a file; refuse links and large files."""
    files.refuse_links(path.parent, [path.name])
    if path.exists() and path.stat().st_size > MAX_BYTES:
        raise UsageError(f"{path.name} is {_TOO_LARGE}, so it is ignored. Shorten it")
    return files.read_bytes(path)

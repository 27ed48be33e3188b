"""Read CSV files as spreadsheets and learning platforms save them: in several encodings, with several separators."""

import codecs
import csv
import io
import math
from dataclasses import dataclass, field
from pathlib import Path

from autograder.core.files import report_read_error
from autograder.errors import UsageError

_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab"}  # of the separators


@dataclass(frozen=True)
class CsvTable:
    """The titles and the rows of a CSV file; every row has as many cells as there are titles."""

    titles: list[str]
    rows: list[list[str]]
    line_numbers: list[int] = field(default_factory=list)  # of the rows of a file: the line on which each ends

    def column(self, number: int) -> list[str]:
        """Return the cells of a column."""
        return [row[number] for row in self.rows]


def read(path: Path) -> CsvTable:
    """Return the table in a file; empty lines are left out.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not text, or not valid CSV.
    """
    text = decode(path.read_bytes())
    # The separator that splits the titles into most columns; a title may contain one of the others.
    separator = max(_NAMES, key=lambda character: _count_titles(text, character))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        lines = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise ValueError(f"not valid CSV after line {reader.line_num}: {error}") from None
    titles = [title.strip() for title in lines[0][1]] if lines else []
    width = len(titles)
    for number, line in lines:
        if any(cell.strip() for cell in line[width:]):
            quoted = f"A text that contains {_NAMES[separator]} needs quotation marks around it"
            raise ValueError(f"not valid CSV: line {number} has {len(line)} cells for {width} titles. {quoted}")
    rows = [[*line, *([""] * width)][:width] for _, line in lines[1:]]
    return CsvTable(titles, rows, [number for number, _ in lines[1:]])


def _count_titles(text: str, separator: str) -> int:
    try:
        return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), []))
    except csv.Error:
        return 0


def read_given(path: Path, remedy: str, *, what: str = "", option: str = "") -> CsvTable:
    """Return the table in a file that the user named; raise UsageError if it cannot be read.

    The error begins with `what` the file is, such as "the roster". It ends with a `remedy` if that is no CSV file, and
    with the `option` that named it, such as "--worksheet FILE", if there is none.
    """
    name = f"{what} {path}".strip()
    try:
        with report_read_error(name, f"Check the path{f': {option}' if option else ''}"):
            return read(path)
    except ValueError as error:  # for example a quotation mark that is never closed
        raise UsageError(f"{name} is {error}. {remedy}") from None


def parse_number(text: str) -> float | None:
    """Return the number in a cell, with a decimal point or comma; None if it is not one."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def decode(content: bytes) -> str:
    """Return the text of a file in UTF-8, UTF-16 or cp1252; raise ValueError if it is in none of them."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    elif b"\0" in content[:200]:  # UTF-16 without its mark: every second byte of a Latin letter is zero
        encodings = ["utf-16-le" if content[1:2] == b"\0" else "utf-16-be"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValueError("not text in UTF-8, UTF-16 or cp1252")

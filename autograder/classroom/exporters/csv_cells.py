"""CSV cells that no spreadsheet runs, and the file they go to."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.core.files import write_atomically
from autograder.core.text import clean

# OWASP, "CSV Injection": what a spreadsheet takes for the beginning of a formula; the wide forms work in some.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
MAX_CELL = 2000


def text(value: object) -> str:
    """A text from outside as a cell: one line, without control characters, and no formula.

    A platform that matches people by name still finds everybody: only a text that begins like a formula gets an
    apostrophe in front, and nobody's name or number does.
    """
    plain = " ".join(clean("" if value is None else value, MAX_CELL).split())
    harmless = plain == "-" or _NUMBER.fullmatch(plain) or not plain.startswith(_FORMULA)
    return plain if harmless else "'" + plain


def points(value: float | None) -> str:
    """A number as every platform reads it: a point, at most two places, no exponent."""
    return "" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def write(path: Path, rows: Iterable[Sequence[str]], *, line_end: str = "\n") -> None:
    """Write the rows as CSV (RFC 4180) in UTF-8."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end).writerows(rows)
    write_atomically(path, file.getvalue().encode("utf-8", "replace"))

"""Write CSV files whose cells no spreadsheet runs as formulas."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.core.files import write_atomically
from autograder.core.points import format_points
from autograder.core.text import clean

# The characters that start a formula (OWASP, "CSV Injection"); some spreadsheets also accept the wide forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
MAX_CELL = 2000


def text(value: object) -> str:
    """Return untrusted text as a cell: one line, no control characters, no formula.

    Only text that begins like a formula gets an apostrophe in front. No name or number does, so a platform that matches
    students by name still finds them.
    """
    plain = " ".join(clean("" if value is None else value, MAX_CELL).split())
    harmless = plain == "-" or re.fullmatch(r"[+-]?\d+(\.\d+)?", plain) or not plain.startswith(_FORMULA)
    return plain if harmless else "'" + plain


def points(value: float | None) -> str:
    """Return a number in the form that every platform reads: at most two decimals, no exponent."""
    return "" if value is None else format_points(value)


def write(
    path: Path, rows: Iterable[Sequence[str]], *, line_end: str = "\n", durable: bool = False, marked: bool = False
) -> None:
    """Write rows as CSV (RFC 4180) in UTF-8, `marked` as such for Excel; `durable` as for `write_atomically`."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end).writerows(rows)
    write_atomically(path, file.getvalue().encode("utf-8-sig" if marked else "utf-8", "replace"), durable=durable)

"""Read Moodle's grading worksheet in any language, and find its columns.

Sources: the code that writes the file, `mod/assign/gradingtable.php`, and the code that reads it,
`mod/assign/feedback/offline/importgradeslib.php` (github.com/moodle/moodle). Titles are in the language of the person
who downloads. The order is that of the code: identifier, full name, fields such as the email address, status, grade and
directly after it the maximum or the scale, whether the grade can be changed, times, comments. An identifier is the word
for a participant and a number that this one assignment of Moodle gives the student (`get_uniqueid_for_user`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.exporters.person_matching import Person, identifiers, name_words
from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.submissions.roster import letters
from autograder.core import csv_table
from autograder.core.csv_table import CsvTable, parse_number
from autograder.core.text import clean
from autograder.errors import UsageError

HOW_TO_DOWNLOAD = (
    "In Moodle, open the assignment, choose Grading action > Download grading worksheet (it needs the feedback type "
    "Offline grading worksheet), and give the file: --worksheet FILE"
)
# Titles by their letters in lower case: English, German, French and Spanish, from Moodle's language packs.
_GRADE = ("grade", "bewertung", "note", "calificación")
_SCALE = ("scale", "skala", "barème", "escala")
_COMMENTS = (
    "feedbackcomments", "feedbackalskommentar", "feedbackparcommentaires", "comentariosderetroalimentación",
)  # fmt: skip
_CAN_BE_CHANGED = (
    "gradecanbechanged", "bewertungkanngeändertwerden", "lanotepeutêtremodifiée", "lacalificaciónpuedesercambiada",
    "lacalificaciónpuedecambiarse",
)  # fmt: skip
_NO = {"no", "nein", "non"}
_IDENTIFIER = re.compile(r"(\D*[^\W\d]\D*?)\s*(\d+)")


@dataclass(frozen=True)
class Worksheet:
    """A worksheet: its cells as they are, and the numbers of the columns that matter."""

    where: str  # what to call it in messages
    titles: list[str]
    rows: list[list[str]]
    identifier: int
    grade: int
    comments: int | None

    @property
    def maximum(self) -> int:
        """The column of the maximum, which is directly after the grade."""
        return self.grade + 1

    def number(self, row: list[str]) -> str:
        """Return the participant's number in a row."""
        match = _IDENTIFIER.fullmatch(row[self.identifier].strip())
        return match[2] if match else ""

    def name(self, row: list[str]) -> str:
        """Return the name in a row; a worksheet of anonymous submissions has a status in that column."""
        return row[self.identifier + 1]

    def person(self, row: list[str]) -> Person:
        """Return what identifies the participant in a row."""
        ids = identifiers(zip(self.titles, row, strict=True))
        number = {self.number(row)}
        return Person(name_words(self.name(row)), {**ids, "platform": number, "participant": number})

    def is_locked(self, row: list[str]) -> bool:
        """Return whether Moodle says that the grade cannot be changed."""
        column = _titled(self.titles, _CAN_BE_CHANGED)
        return column is not None and row[column].strip().casefold() in _NO


def read(path: Path, columns: Mapping[str, str]) -> Worksheet:
    """Return the worksheet in a file; raise UsageError if it is not one.

    `columns` has titles that the user gave, for `grade` and `comments`.
    """
    return _worksheet(str(path), csv_table.read_given(path, HOW_TO_DOWNLOAD, option="--worksheet FILE"), columns)


def of_roster(book: Gradebook, columns: Mapping[str, str]) -> Worksheet | None:
    """Return the worksheet that was given as the roster of the class, or None if the roster is another file."""
    roster, of_grade = book.roster, {*_GRADE, letters(columns.get("grade", ""))}
    if _identifier_column(roster) is None or of_grade.isdisjoint(map(letters, roster.titles)):
        return None
    return _worksheet("the roster", roster, columns)


def _worksheet(where: str, table: CsvTable, columns: Mapping[str, str]) -> Worksheet:
    identifier = _identifier_column(table)
    if identifier is None:
        titles = clean(", ".join(table.titles[:4]), 120)
        found = f"its first columns are {titles}" if titles else "it is empty"
        raise UsageError(f"{where} is not a grading worksheet of Moodle: {found}. {HOW_TO_DOWNLOAD}")
    for name, title in columns.items():
        if name not in ("grade", "comments"):
            raise UsageError(f"a worksheet has no column {name!r}. Use --column grade=TITLE or --column comments=TITLE")
        if title not in table.titles:
            there = clean(", ".join(table.titles), 400)
            raise UsageError(f"{where} has no column {title!r}. Its columns: {there}")
    if _titled(table.titles, _SCALE) is not None:
        problem = f"{where} belongs to an assignment graded with a scale, and Headway exports points"
        raise UsageError(f"{problem}. Choose points in Moodle")
    grade = table.titles.index(columns["grade"]) if "grade" in columns else _grade_column(table)
    if grade is None or grade + 1 >= len(table.titles) or not _is_maximum(table.column(grade + 1)):
        there = clean(", ".join(table.titles), 400)
        raise UsageError(f"{where}: which column is the grade? Name it: --column grade=TITLE. The columns: {there}")
    known = _titled(table.titles, _COMMENTS)
    comments = table.titles.index(columns["comments"]) if "comments" in columns else known
    return Worksheet(where, table.titles, table.rows, identifier, grade, comments)


def _titled(titles: list[str], words: tuple[str, ...]) -> int | None:
    """Return the first column whose title is one of these words."""
    return next((number for number, title in enumerate(titles) if letters(title) in words), None)


def _identifier_column(table: CsvTable) -> int | None:
    """Return the first column in which every cell is the same word and another number."""
    for number in range(len(table.titles) - 1):
        matches = [_IDENTIFIER.fullmatch(cell.strip()) for cell in table.column(number)]
        found = [match for match in matches if match]
        words, numbers = {match[1] for match in found}, {match[2] for match in found}
        if len(words) == 1 and len(numbers) == len(found) == len(matches):
            return number
    return None


def _grade_column(table: CsvTable) -> int | None:
    """Return the column of the grade: by its title, or as the only one with numbers and then the same maximum."""
    if (titled := _titled(table.titles, _GRADE)) is not None:
        return titled
    found = []
    for number in range(len(table.titles) - 1):
        are_grades = all(not cell.strip() or parse_number(cell) is not None for cell in table.column(number))
        if are_grades and _is_maximum(table.column(number + 1)):
            found.append(number)
    return found[0] if len(found) == 1 else None


def _is_maximum(cells: list[str]) -> bool:
    values = {parse_number(cell) for cell in cells}
    return len(values) == 1 and bool(next(iter(values)))

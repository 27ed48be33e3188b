"""Fill in Moodle's grading worksheet, for an assignment with the feedback type "Offline grading worksheet".

Sources: the code that writes the file, `mod/assign/gradingtable.php`, and the code that reads it, `importgradeslib.php`
and `locallib.php` in `mod/assign/feedback/offline` (github.com/moodle/moodle; tests/support/lms_importers.py repeats
its rules).

Titles are in the language of the person who downloads. The order is that of the code: identifier, full name, fields
such as the email address, status, grade and directly after it the maximum or the scale, whether the grade can be
changed, times, comments. An identifier is the word for a participant and a number that this one assignment of Moodle
gives the student (`get_uniqueid_for_user`).

Moodle finds the columns of identifier, grade, "Last modified (grade)" and comments by their titles in the language of
the person who uploads, and the student by the number in the identifier. So every cell is copied from Moodle's own
worksheet, but for grade and comment. Moodle skips an empty grade, one above the maximum, and one that was changed after
the worksheet was downloaded. A comment replaces the one in Moodle, and an empty comment deletes it.

A Moodle assignment has one grade: that of one assignment of the course (`--assignment`), or the total, scaled to the
maximum in Moodle.
"""

import hashlib
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.classroom.exporters import csv_cells
from autograder.classroom.exporters.lms_plan import (
    LmsPlan,
    Person,
    PlatformFile,
    has_score,
    identifiers,
    name_words,
    person_of_student,
    rows_of_students,
)
from autograder.classroom.storage.gradebook import Gradebook, has_no_result, iter_functions
from autograder.classroom.submissions.roster import TITLES, letters
from autograder.core import csv_table
from autograder.core.csv_table import CsvTable, parse_number
from autograder.core.points import rounded_points
from autograder.core.text import clean, listed
from autograder.documents.reading import Document
from autograder.errors import UsageError
from autograder.report.score_words import score_texts
from autograder.report.student_feedback import comment_texts
from autograder.report.wording import STATUS_WORDS

HOW_TO_DOWNLOAD = (
    "In Moodle, open the assignment, choose Grading action > Download grading worksheet (it needs the feedback type "
    "Offline grading worksheet), and give the file: --worksheet FILE"
)
_NO = {"no", "nein", "non"}
_IDENTIFIER = re.compile(r"(\D*[^\W\d]\D*?)\s*(\d+)")
MAX_REMARKS = 8
# Comments begin with this and end with a digest, so that a later export replaces only what Headway wrote.
MARK = "Headway: "
# What happens to grades and comments.
_CHANGED, _KEPT = "Grades in Moodle that change", "Grades in Moodle that stay"
_KEPT_COMMENTS = "Comments in Moodle that stay, because a person wrote or changed them (--replace-comments)"
_ABOVE = "Above Moodle's maximum, exported as the maximum"
_LOCKED = "Locked in Moodle, which ignores the grade"


@dataclass(frozen=True)
class Worksheet(PlatformFile):
    """A worksheet, and the numbers of the columns that matter."""

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


def read_worksheet(path: Path, columns: Mapping[str, str]) -> Worksheet:
    """Return the worksheet in a file; raise UsageError if it is not one.

    `columns` has titles that the user gave, for `grade` and `comments`.
    """
    return _worksheet(str(path), csv_table.read_given(path, HOW_TO_DOWNLOAD, option="--worksheet FILE"), columns)


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
    if _titled(table.titles, "scale") is not None:
        problem = f"{where} belongs to an assignment graded with a scale, and Headway exports points"
        raise UsageError(f"{problem}. Choose points in Moodle")
    grade = table.titles.index(columns["grade"]) if "grade" in columns else _grade_column(table)
    if grade is None or grade + 1 >= len(table.titles) or not _is_maximum(table.column(grade + 1)):
        there = clean(", ".join(table.titles), 400)
        raise UsageError(f"{where}: which column is the grade? Name it: --column grade=TITLE. The columns: {there}")
    known = _titled(table.titles, "comments")
    comments = table.titles.index(columns["comments"]) if "comments" in columns else known
    return Worksheet(where, table.titles, table.rows, identifier, grade, comments)


def _titled(titles: list[str], kind: str) -> int | None:
    """Return the first column whose title is one of a kind, in any language."""
    return next((number for number, title in enumerate(titles) if letters(title) in TITLES[kind]), None)


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
    if (titled := _titled(table.titles, "grade")) is not None:
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


def plan(
    book: Gradebook,
    worksheet: Worksheet | None,
    *,
    assignment: str | None = None,
    columns: Mapping[str, str] | None = None,
    **choices: bool,
) -> LmsPlan:
    """Return the worksheet to upload and what it will change.

    Args:
        worksheet: Moodle's file; by default, the roster, if it is the worksheet of this assignment.
        assignment: whose score is the grade; by default, the total.
        columns: titles of the columns `grade` and `comments`, where they cannot be recognized.
        choices: fields of `LmsPlan`, such as `keep_existing`.

    Raises UsageError if there is no worksheet, or it does not fit.
    """
    names = [assignment] if assignment else [entry["name"] for entry in book.assignments]
    platform = f"moodle:{names[0]}" if len(names) == 1 else ""
    worksheet = _worksheet_of(book, worksheet, platform, columns or {})
    if not platform and len(owners := _assignments_of(book, worksheet)) == 1:
        problem = f"{worksheet.where} belongs to {owners[0]} in Moodle, and the total is no grade of {owners[0]}"
        raise UsageError(f"{problem}. Export that grade: --assignment {owners[0]}")

    def has_work(student: Document) -> bool:
        grades = [grade for name in names if (grade := student["assignments"].get(name)) is not None]
        return any(map(has_score, grades)) and not any(map(has_no_result, grades))

    result = LmsPlan(**choices)
    result.rows, result.line_end = [list(worksheet.titles)], "\r\n"
    people = partial(person_of_student, platform=platform)
    found = rows_of_students(result, book, worksheet, people, has_work)
    result.say(f"Grade: {assignment or 'the total'}, out of {worksheet.rows[0][worksheet.maximum]} in Moodle")
    if worksheet.comments is None:
        result.say("No column of comments is recognized, so none are written. Name it: --column comments=TITLE")
    for row, student in found:
        comment = _comment(book, student, assignment)
        result.rows.append(_filled(worksheet, row, _share(student, assignment), comment, result))
    result.say_noted(_CHANGED, _KEPT, _KEPT_COMMENTS, _ABOVE, _LOCKED)
    return result


def _worksheet_of(book: Gradebook, given: Worksheet | None, platform: str, columns: Mapping[str, str]) -> Worksheet:
    """Return the worksheet, or the roster as one; raise UsageError if it may be that of another assignment."""
    worksheet, roster, of_grade = given, book.roster, {*TITLES["grade"], letters(columns.get("grade", ""))}
    has_grade = not of_grade.isdisjoint(map(letters, roster.titles))
    if worksheet is None and has_grade and _identifier_column(roster) is not None:
        worksheet = _worksheet("the roster", roster, columns)
    numbers = {worksheet.number(row) for row in worksheet.rows} if worksheet else set()
    downloaded = {number for student in book.students if (number := student["ids"].get(platform))}
    is_same = bool(numbers & downloaded)
    if worksheet is None or not (given or is_same or len(book.assignments) == 1):
        raise UsageError(f"a grading worksheet of Moodle is needed. {HOW_TO_DOWNLOAD}")
    if downloaded and not is_same:
        name = platform.partition(":")[2]
        problem = f"{worksheet.where} belongs to another assignment of Moodle than the submissions for {name}"
        raise UsageError(f"{problem}: no participant has the same number. {HOW_TO_DOWNLOAD}")
    return worksheet


def _assignments_of(book: Gradebook, worksheet: Worksheet) -> list[str]:
    """Return the assignments whose submissions were downloaded under the names and numbers in the worksheet."""
    rows = {(worksheet.number(row), name_words(worksheet.name(row))) for row in worksheet.rows}
    names = [assignment["name"] for assignment in book.assignments]
    people = [(student["ids"], name_words(student["name"])) for student in book.students]
    return [name for name in names if any((ids.get(f"moodle:{name}"), words) in rows for ids, words in people)]


def _share(student: Document, assignment: str | None) -> float | None:
    """Return the score as a part of the possible points; None if nothing counts."""
    grade = student if assignment is None else student["assignments"][assignment]
    possible = grade["out_of"] if assignment is None else grade["possible"]
    if assignment is not None and not has_score(grade):
        return None
    return float(grade["score"] / possible) if possible else None


def _filled(sheet: Worksheet, row: list[str], share: float | None, comment: str, result: LmsPlan) -> list[str]:
    filled, label = list(row), sheet.name(row)
    column = _titled(sheet.titles, "can_be_changed")
    if column is not None and row[column].strip().casefold() in _NO:
        result.note(_LOCKED, label)
    if share is not None:
        filled[sheet.grade] = _grade(sheet, row, share, result)
    if sheet.comments is not None:
        there = row[sheet.comments].strip()
        if not there or _is_unchanged(there) or result.replace_comments:
            filled[sheet.comments] = comment
        else:
            result.note(_KEPT_COMMENTS, label)
    return filled


def _grade(sheet: Worksheet, row: list[str], share: float, result: LmsPlan) -> str:
    label, there, limit = sheet.name(row), row[sheet.grade].strip(), row[sheet.maximum]
    if share > 1 + 1e-9:
        result.note(_ABOVE, label)
    grade = f"{rounded_points(min(share, 1.0) * (parse_number(limit) or 0.0)):f}"
    if "," in limit:  # the decimal sign of Moodle's language
        grade = grade.replace(".", ",")
    if not there or parse_number(there) == parse_number(grade):
        return grade
    if result.keep_existing:
        result.note(_KEPT, label)
        return there
    result.note(_CHANGED, f"{label} ({there} → {grade})")
    return grade


def _is_unchanged(comment: str) -> bool:
    """Return whether Headway wrote this comment in Moodle, and nobody has edited it since."""
    text, _, end = " ".join(html.unescape(re.sub(r"<[^>]*>", "", comment)).split()).rpartition(" ")
    return text.startswith(MARK) and end == _digest(text)


def _digest(text: str) -> str:
    return f"[{hashlib.sha256(''.join(text.split()).encode('utf-8', 'replace')).hexdigest()[:6]}]"


def _comment(book: Gradebook, student: Document, assignment: str | None) -> str:
    """Return the comment as HTML, in one paragraph: score, the instructor's comments, what did not pass and why."""
    result = book.result_of(student, [assignment] if assignment else ())
    parts = [score_texts(student, book.document).get(assignment or "total", "")]
    parts += comment_texts(student, book.code_of(student), assignment)
    parts += [_remarks(result)] if result is not None else []
    sentences = (
        part if part.endswith(("?", "!")) else f"{part.rstrip('. ')}." for part in map(str.strip, parts) if part
    )
    text = csv_cells.text(MARK + " ".join(sentences))
    return f"{html.escape(text)} {_digest(text)}"


def _remarks(result: Document) -> str:
    remarks = []
    for name, function in iter_functions(result):
        if function["status"] == "passed":
            continue
        why = "" if function["status"] == "failed" else STATUS_WORDS[function["status"]]
        named = next((check["mistake"]["title"] for check in function["checks"] if check["mistake"]), why)
        points = f"{csv_cells.points(function['points']['earned'])}/{csv_cells.points(function['points']['possible'])}"
        remarks.append(f"{name} {points}{': ' + clean(named, 200) if named else ''}")
    return listed(remarks, MAX_REMARKS, "; ") or "All checks passed"

"""Fill in Moodle's grading worksheet, for an assignment with the feedback type "Offline grading worksheet".

Source: `mod/assign/feedback/offline/importgradeslib.php` and `locallib.php` (github.com/moodle/moodle;
tests/support/lms_importers.py repeats their rules). Moodle finds the columns of identifier, grade, "Last
modified (grade)" and comments by their titles in the language of the person who uploads, and the student by the number
in the identifier. So every cell is copied from Moodle's own worksheet, but for grade and comment. Moodle skips an empty
grade, one above the maximum, and one that was changed after the worksheet was downloaded. A comment replaces the one in
Moodle, and an empty comment deletes it.

A Moodle assignment has one grade: that of one assignment of the course (`--assignment`), or the total, scaled to the
maximum in Moodle.
"""

import hashlib
import html
import re
from collections.abc import Mapping
from functools import partial

from autograder.classroom.exporters import csv_cells, moodle_worksheet
from autograder.classroom.exporters.lms_plan import LmsOptions, LmsPlan, has_score, rows_of_students
from autograder.classroom.exporters.moodle_worksheet import Worksheet
from autograder.classroom.exporters.person_matching import name_words, person_of_student
from autograder.classroom.storage.gradebook import Gradebook, has_no_result, iter_functions
from autograder.core.csv_table import parse_number
from autograder.core.points import rounded_points
from autograder.core.text import clean, listed
from autograder.documents.reading import Document
from autograder.errors import UsageError
from autograder.report.score_words import score_texts
from autograder.report.student_feedback import comment_texts
from autograder.report.wording import STATUS_WORDS

MAX_REMARKS = 8
# Comments begin with this and end with a digest, so that a later export replaces only what Headway wrote.
MARK = "Headway: "
# What happens to grades and comments.
_CHANGED, _KEPT = "Grades in Moodle that change", "Grades in Moodle that stay"
_KEPT_COMMENTS = "Comments in Moodle that stay, because a person wrote or changed them (--replace-comments)"
_ABOVE = "Above Moodle's maximum, exported as the maximum"
_LOCKED = "Locked in Moodle, which ignores the grade"


def plan(
    book: Gradebook,
    worksheet: Worksheet | None,
    *,
    assignment: str | None = None,
    columns: Mapping[str, str] | None = None,
    options: LmsOptions = LmsOptions(),  # noqa: B008 (it is frozen)
) -> LmsPlan:
    """Return the worksheet to upload and what it will change.

    Args:
        worksheet: Moodle's file; by default, the roster, if it is the worksheet of this assignment.
        assignment: whose score is the grade; by default, the total.
        columns: titles of the columns `grade` and `comments`, where they cannot be recognized.

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

    result = LmsPlan(options, [list(worksheet.titles)], line_end="\r\n")
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
    worksheet = given or moodle_worksheet.of_roster(book, columns)
    numbers = {worksheet.number(row) for row in worksheet.rows} if worksheet else set()
    downloaded = {number for student in book.students if (number := student["ids"].get(platform))}
    is_same = bool(numbers & downloaded)
    if worksheet is None or not (given or is_same or len(book.assignments) == 1):
        raise UsageError(f"a grading worksheet of Moodle is needed. {moodle_worksheet.HOW_TO_DOWNLOAD}")
    if downloaded and not is_same:
        name = platform.partition(":")[2]
        problem = f"{worksheet.where} belongs to another assignment of Moodle than the submissions for {name}"
        raise UsageError(f"{problem}: no participant has the same number. {moodle_worksheet.HOW_TO_DOWNLOAD}")
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
    if sheet.is_locked(row):
        result.note(_LOCKED, label)
    if share is not None:
        filled[sheet.grade] = _grade(sheet, row, share, result)
    if sheet.comments is not None:
        there = row[sheet.comments].strip()
        if not there or _is_unchanged(there) or result.options.replace_comments:
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
    if result.options.keep_existing:
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

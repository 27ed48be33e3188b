"""Write an archive with a feedback file for every student, for a platform's bulk upload.

Sources (tests/support/lms_importers.py repeats their rules):

- Moodle, "Upload multiple feedback files in a zip": `mod/assign/feedback/file/importziplib.php`
  (github.com/moodle/moodle). A folder is named as in the download of the submissions,
  NAME_NUMBER_assignsubmission_file; the number decides who gets the file.
- Canvas, "Upload submissions": `infer_comment_context_from_filename` in `app/models/assignment.rb`
  (github.com/instructure/canvas-lms). A file has the name of the downloaded submission, which contains the numbers of
  the user and of the file; it becomes a comment of the submission, and is shown under the name of the student's file.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

from autograder.classroom.exporters.lms_plan import listed, match, person_of_student
from autograder.classroom.exporters.moodle import Worksheet
from autograder.classroom.storage.gradebook import Gradebook, display_name
from autograder.core.archives import SUFFIXES, tar_of, zip_of
from autograder.core.files import lower_suffix, write_atomically
from autograder.core.text import clean
from autograder.documents.reading import Document
from autograder.errors import UsageError
from autograder.report.score_words import score_lines
from autograder.report.student_feedback import as_html, as_markdown

_NOT_IN_FILE_NAMES = re.compile(r"[_/\\:*?\"<>|\x00-\x1f]+")
_Shown = tuple[Document, Document, Document | None, list[str]]  # student, results, code and arithmetic of the score


def write_moodle(book: Gradebook, path: Path, assignment: str, worksheet: Worksheet | None) -> tuple[int, list[str]]:
    """Write the archive for Moodle; return the number of students, and lines about those who are not in it.

    A participant's number comes from the download of the submissions, or from the assignment's worksheet.
    """
    platform = f"moodle:{assignment}"
    numbers: dict[str, str] = {}
    if worksheet is not None:
        people = [person_of_student(student, platform) for student in book.students]
        rows = match(people, [worksheet.person(row) for row in worksheet.rows]).rows
        numbers = {book.students[one]["submission"]: worksheet.number(worksheet.rows[row]) for row, one in rows.items()}

    def file_name(student: Document) -> str | None:
        number = numbers.get(student["submission"]) or student["ids"].get(platform) or student["ids"].get("moodle")
        name = " ".join(_NOT_IN_FILE_NAMES.sub(" ", clean(display_name(student), 100)).split()).strip(".~ ")
        folder = f"{name or 'Student'}_{number}_assignsubmission_file"
        return None if number is None else f"{folder}/feedback-{assignment}.html"

    hint = "Their numbers in Moodle are in the assignment's grading worksheet: --worksheet FILE"
    reason = f"the submissions for {assignment} were not downloaded from Moodle. {hint}"
    return _write(book, path, assignment, file_name, "number in Moodle not known", reason)


def write_canvas(book: Gradebook, path: Path, assignment: str) -> tuple[int, list[str]]:
    """Write the archive for Canvas; return the number of students, and lines about those who are not in it."""

    def file_name(student: Document) -> str | None:
        name = student["assignments"][assignment].get("upload_name")
        return Path(name).name if name else None

    hint = "Grade the files of Canvas's Download Submissions"
    reason = f"the submissions for {assignment} were not downloaded from Canvas. {hint}"
    why = "no file in Canvas's download that can be graded"
    return _write(book, path, assignment, file_name, why, reason)


def _feedback_of(book: Gradebook, student: Document, assignment: str) -> _Shown | None:
    """Return what the feedback on one assignment shows, of this assignment only."""
    grade, result = student["assignments"].get(assignment), book.result_of(student, [assignment])
    if grade is None or result is None or not result["assignments"]:
        return None
    only = {
        **student,
        **{key: grade[key] for key in ("status", "reason", "earned", "possible", "late_days", "penalty", "score")},
        "name": display_name(student),
        "out_of": grade["possible"],
        "dropped": [],
        "assignments": {assignment: grade},
        "weights": {assignment: grade["possible"]},
        "time_zone": book.policy.time_zone,
        "comments": [one for one in student["comments"] if one["assignment"] in ("", assignment)],
    }
    return only, result, book.code_of(student), score_lines(student, book.document, [assignment])


def _in_format_of(file: str, shown: _Shown) -> bytes:
    """Return the feedback in the format of a file: a page, or what opens under the name of the student's own file."""
    suffix = lower_suffix(file).rpartition(".")[2]
    if suffix == "html":
        return as_html(*shown).encode("utf-8", "replace")
    text = as_markdown(*shown)
    if suffix == "py":
        lines = ["Feedback. Your submission is unchanged; this file only has its name.", "", *text.splitlines()]
        text = "\n".join(f"# {line}".rstrip() for line in lines) + "\n"
    elif suffix == "ipynb":
        cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": text}
        text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False)
    elif lower_suffix(file).endswith(SUFFIXES):
        page = as_html(*shown).encode("utf-8", "replace")
        files = {"feedback.html": page, "feedback.md": text.encode("utf-8", "replace")}
        return zip_of(files) if suffix == "zip" else tar_of(files, "w" if suffix == "tar" else "w:gz")
    return text.encode("utf-8", "replace")


def _write(
    book: Gradebook, path: Path, assignment: str, file_name: Callable[[Document], str | None], why: str, reason: str
) -> tuple[int, list[str]]:
    """Write the archive; say `why` students without a file name are left out. If all are, raise UsageError."""
    files: dict[str, bytes] = {}
    missing = []
    for student in book.students:
        if (shown := _feedback_of(book, student, assignment)) is None:
            continue
        if name := file_name(student):
            files[name] = _in_format_of(name, shown)
        else:
            missing.append(display_name(student))
    if not files:
        raise UsageError(f"no feedback can be uploaded: {reason}")
    write_atomically(path, zip_of(files))
    return len(files), [f"Left out, {why} ({len(missing)}): {listed(missing)}"] if missing else []

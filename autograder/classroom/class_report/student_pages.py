"""Collect what is known about each student of a graded class; write their pages for the instructor, and feedback."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from autograder.classroom.comments import comment_records, grade_history
from autograder.classroom.storage.gradebook import Gradebook, display_name
from autograder.core.files import write_atomically
from autograder.documents.reading import Document
from autograder.report.class_records import SimilarityResult
from autograder.report.score_words import score_lines
from autograder.report.student_feedback import as_html, as_markdown
from autograder.report.student_results import StudentResults, as_page


def results_of(
    book: Gradebook, student: Document, names: Sequence[str] = (), history: Sequence[Document] | None = None
) -> StudentResults:
    """Return everything about a student, or about the named assignments only.

    `history` holds the changes of this student's grades, if they have been read.
    """
    if history is None:
        history = history_by_student(book).get(student["submission"], [])
    result, code = book.result_of(student, names), book.code_of(student)
    student = {**student, "time_zone": book.policy.time_zone}
    arithmetic = score_lines(student, book.document, (*names, "total") if names else ())
    if names:
        assignments = {name: grade for name, grade in student["assignments"].items() if name in names}
        student = {**student, "assignments": assignments}
        history = [change for change in history if change["assignment"] in (*names, "")]
    return StudentResults(student, book.document, result, code, arithmetic, history, str(book.out))


def history_by_student(book: Gradebook) -> dict[str, list[Document]]:
    """Return the changes of grades by submission, the oldest first, with the reason of each comment."""
    found: dict[str, list[Document]] = {}
    with contextlib.suppress(OSError):
        changes = grade_history.read(book.out)
        records = comment_records.read(book.out) if changes else []
        reasons = {record.id: record.reason or record.text for record in records}
        for change in changes:
            reason = reasons.get(change["comment"], "")
            found.setdefault(change["student"], []).append({**change, "reason": reason})
    return found


def write(book: Gradebook, folder: Path, page: Path, similarity: SimilarityResult) -> None:
    """Write a page for each student with a result into `folder`, beside the class `page`, with links to pairs."""
    names = book.file_names()
    pairs: dict[str, list[dict[str, str]]] = {}
    for pair in similarity.pairs:
        for one, other in ((0, pair.second), (1, pair.first)):
            link = {"text": f"Similar to {other} ({pair.share:.0%})", "address": f"../{pair.page}"}
            pairs.setdefault(pair.submissions[one], []).extend([link] if pair.page else [])
    history = history_by_student(book)
    for student in book.students:
        if not any(grade["file"] for grade in student["assignments"].values()):
            continue
        shown = results_of(book, student, history=history.get(student["submission"], []))
        back = {"text": "Class report", "address": quote(f"../{page.name}")}
        shown.links = [back, *pairs.get(student["submission"], [])]
        write_atomically(folder / f"{names[student['submission']]}.html", as_page(shown).encode("utf-8", "replace"))


def write_feedback(book: Gradebook, folder: Path) -> int:
    """Write `<name>.html` and `<name>.md` into `folder` for every student who has a result; return their number."""
    count, names = 0, book.file_names()
    weights = {assignment["name"]: assignment["weight"] for assignment in book.assignments}
    course = {"weights": weights, "time_zone": book.policy.time_zone}
    for student, result in book.results():
        if result is not None:
            name = names[student["submission"]]
            code, score = book.code_of(student), score_lines(student, book.document)
            shown = {**student, **course, "name": display_name(student)}
            write_atomically(folder / f"{name}.html", as_html(shown, result, code, score).encode("utf-8", "replace"))
            write_atomically(folder / f"{name}.md", as_markdown(shown, result, code, score).encode("utf-8", "replace"))
            count += 1
    return count

"""Collect what is known about each student of a graded class, and write the pages that the class page links to."""

from autograder.classroom.gradebook import Gradebook
from autograder.documents import Document
from autograder.report.score_words import score_lines
from autograder.report.student_results import StudentResults


def results_of(book: Gradebook, student: Document, names: tuple[str, ...] = ()) -> StudentResults:
    """Return everything about a student, or about the named assignments only."""
    result, code = book.result_of(student), book.code_of(student)
    arithmetic = score_lines(student, book.document)
    if names:
        arithmetic = [line for line in arithmetic if line.partition(":")[0] in (*names, "total")]
        assignments = {name: grade for name, grade in student["assignments"].items() if name in names}
        student = {**student, "assignments": assignments}
        if result is not None:
            kept = [assignment for assignment in result["assignments"] if assignment["name"] in names]
            result = {**result, "assignments": kept}
    return StudentResults(student, book.document, result, code, arithmetic, out=str(book.out))

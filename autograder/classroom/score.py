"""Compute the scores of a class from what is stored in its folder: who submitted what, results, comments."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.classroom.comments import comment_records, grade_history
from autograder.classroom.comments.comment_records import CommentRecord
from autograder.classroom.comments.grade_history import CauseOf
from autograder.classroom.exporters import table
from autograder.classroom.policy.model import AssignmentPolicy, Policy
from autograder.classroom.scoring import class_document, student_exceptions
from autograder.classroom.scoring.class_document import GradedClass
from autograder.classroom.storage import result_store, submission_records
from autograder.classroom.storage.result_store import JournalEntry
from autograder.classroom.submissions.merge_students import merge_students
from autograder.course import Curriculum
from autograder.documents.reading import Document
from autograder.errors import UsageError


def read_class(
    out: Path,
    policy: Policy,
    curriculum: Curriculum,
    seed: int,
    records: Sequence[CommentRecord],
    entries: Mapping[str, JournalEntry],
) -> tuple[GradedClass, list[str]]:
    """Return the class in the folder `out` with its comments, and warnings of exceptions and comments without effect.

    Raises UsageError if the folder does not say who submitted what.
    """
    stored = submission_records.read(out)
    if not stored.sources:
        problem = f"{out / submission_records.SUBMISSIONS} is missing, so it is not known who submitted what"
        raise UsageError(f"{problem}. Grade the class again: headway grade DIR --out {out}")
    owners = comment_records.owners(records)
    students = merge_students(stored.members, stored.roster_entries(out), stored.names, owners)
    exceptions, warnings = student_exceptions.exceptions_by_submission(policy.exceptions, students)
    decisions = comment_records.decisions(records)
    known = exceptions, decisions, warnings
    graded_class = GradedClass(stored.sources, students, policy, curriculum, seed, entries, *known)
    rules = {name: policy.assignments.get(name, AssignmentPolicy()) for name in graded_class.modules}
    rubrics = {name: {item.id for item in rule.rubric} for name, rule in rules.items()}
    submissions = [student.submission for student in students]
    return graded_class, [*warnings, *comment_records.warnings(records, submissions, rubrics)]


def write(out: Path, document: Document, cause_of: CauseOf, **author: str) -> None:
    """Write a class document, its table, and what has changed (see `grade_history.record`)."""
    with result_store.report_store_error(out):
        class_document.write(out, document)
        table.write(document, out / "grades.csv", durable=True)
        grade_history.record(out, document, cause_of, **author)

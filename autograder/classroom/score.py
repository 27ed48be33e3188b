"""Compute the scores of a class from what is stored in its folder: who submitted what, results, comments.

Comments and points given by hand are recorded here, too: the scores change, without submissions and without grading.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from autograder.classroom.comments import comment_records, grade_history
from autograder.classroom.comments.comment_records import CommentRecord
from autograder.classroom.comments.comment_request import about_its_line, require_valid
from autograder.classroom.comments.grade_history import CauseOf, GradeChange
from autograder.classroom.exporters import table
from autograder.classroom.policy.model import AssignmentPolicy, PolicyException
from autograder.classroom.scoring import class_document
from autograder.classroom.scoring.class_document import GradedClass
from autograder.classroom.storage import gradebook, result_store, run_records
from autograder.classroom.storage.result_store import ResultStore
from autograder.classroom.submissions.merge_students import merge_students
from autograder.classroom.submissions.model import Student
from autograder.classroom.submissions.student_names import StudentNames
from autograder.core.files import report_write_error
from autograder.core.text import now
from autograder.course import Curriculum
from autograder.documents.reading import Document
from autograder.errors import UsageError

PATIENCE = 30.0  # seconds in which another person's command may finish


def with_decisions(group: GradedClass, records: Sequence[CommentRecord]) -> tuple[GradedClass, list[str]]:
    """Return a class with the exceptions and comments of its students, and warnings of those without effect."""
    exceptions, warnings = exceptions_by_submission(group.policy.exceptions, group.students)
    decisions = comment_records.decisions(records)
    rules = {name: group.policy.assignments.get(name, AssignmentPolicy()) for name in group.modules}
    rubrics = {name: {item.id for item in rule.rubric} for name, rule in rules.items()}
    submissions = [student.submission for student in group.students]
    decided = dataclasses.replace(group, exceptions=exceptions, decisions=decisions, unclear=warnings)
    return decided, [*warnings, *comment_records.warnings(records, submissions, rubrics)]


def exceptions_by_submission(
    entries: Sequence[PolicyException], students: Sequence[Student]
) -> tuple[dict[str, list[PolicyException]], list[str]]:
    """Return the `[[exceptions]]` of course.toml by submission, and warnings of unknown students.

    They are part of the policy, not of the results: changing one grades nothing again. Raises UsageError for ambiguous
    names.
    """
    names = StudentNames(students)
    by_submission: dict[str, list[PolicyException]] = {}
    warnings = {}
    for entry in entries:
        submission = names.find(entry.student, "student = …")
        if submission is None:
            problem = f"an entry of [[exceptions]] has no effect: {names.unknown(entry.student)}"
            warnings[entry.student] = f"{problem} Correct or delete it in course.toml"
        else:
            by_submission.setdefault(submission, []).append(entry)
    return by_submission, list(warnings.values())


def write(out: Path, document: Document, cause_of: CauseOf, **author: str) -> list[GradeChange]:
    """Write a class document, its table, and what has changed, and return the latter (see `grade_history.record`)."""
    with report_write_error(out, result_store.ANOTHER_OUT):
        class_document.write(out, document)
        table.write(document, out / "grades.csv", durable=True)
    return grade_history.record(out, document, cause_of, **author)


@dataclass(frozen=True)
class Regrade:
    """The stored records, and the class before and after."""

    records: list[CommentRecord]
    before: Document
    after: Document

    def students(self, submission: str) -> tuple[Document, Document]:
        """Return the entries of one student in the class document, before and after."""
        number = [student["submission"] for student in self.before["students"]].index(submission)
        return self.before["students"][number], self.after["students"][number]


def record_decisions(out: Path, requests: Sequence[CommentRecord], by: str, curriculum: Curriculum) -> Regrade:
    """Record all requests, or none, in the graded class in `out`, and write its scores again.

    The policy is the one that the class document was made with. So nothing but the records changes a score.

    Raises UsageError if a request is wrong, the folder does not say who submitted what, or a run is writing to it.
    """
    by = by.strip() or comment_records.current_user()
    with result_store.locked(out, PATIENCE), ResultStore(out) as store:
        book, stored = gradebook.read(out), comment_records.read(out)
        before, policy = book.document, book.policy
        by_name = {student["submission"]: student for student in book.students}
        requests = [about_its_line(one, book.code_of(by_name[one.student])) if one.place else one for one in requests]
        for request in requests:
            require_valid(request, before, policy, stored)
        time, first = now(), 1 + max((int(old.id) for old in stored if old.id.isdecimal()), default=0)
        records = [replace(request, id=str(n), time=time, by=by) for n, request in enumerate(requests, start=first)]
        submitted, all_records = run_records.read_submissions(out), [*stored, *records]
        if not submitted.sources:
            problem = f"{out / run_records.SUBMISSIONS} is missing, so it is not known who submitted what"
            raise UsageError(f"{problem}. Grade the class again: headway grade DIR --out {out}")
        entries, owners = submitted.roster_entries(out), comment_records.owners(all_records)
        classmates = merge_students(submitted.members, entries, submitted.names, owners)
        group = GradedClass(submitted.sources, classmates, policy, curriculum, before["seed"], store.entries)
        group, _ = with_decisions(group, all_records)
        assignments, chosen = group.assignments(), {record.student for record in records}
        people = [person for person in group.students if person.submission in chosen]
        changed: dict[str, Document] = {one.submission: group.student_document(one, assignments) for one in people}
        # A note on attempts that were not graded is known only to the run that left them out.
        kept = ("notes", "limit_note")
        students = [{**changed.get(old["submission"], old), **{key: old[key] for key in kept}} for old in book.students]
        after = {**before, "students": students}
        grade_history.record(out, before, lambda *_: "run")  # what an interrupted run did not record
        comment_records.append(out, records)
        numbers = ", ".join(record.id for record in records)
        write(out, after, lambda *_: "comment", by=by, comment=numbers)
    return Regrade(records, before, after)

"""Record comments and points given by hand, and compute the scores again, without submissions and without grading."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from autograder.classroom import score
from autograder.classroom.comments import comment_records, grade_history
from autograder.classroom.comments.comment_records import CommentRecord
from autograder.classroom.comments.comment_request import about_its_line, require_valid
from autograder.classroom.storage import gradebook, result_store
from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.storage.result_store import JournalEntry, ResultStore
from autograder.course import Curriculum
from autograder.documents.reading import Document

PATIENCE = 30.0  # seconds in which another person's command may finish


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


def apply(out: Path, requests: Sequence[CommentRecord], by: str, curriculum: Curriculum) -> Regrade:
    """Record all requests, or none, in the graded class in `out`, and write its scores again.

    Raises UsageError if a request is wrong, or a run is writing to `out`.
    """
    by = by.strip() or comment_records.current_user()
    with result_store.locked(out, PATIENCE), ResultStore(out) as store:
        book, stored = gradebook.read(out), comment_records.read(out)
        before = book.document
        by_name = {student["submission"]: student for student in book.students}
        requests = [about_its_line(one, book.code_of(by_name[one.student])) if one.place else one for one in requests]
        for request in requests:
            require_valid(request, before, book.policy, stored)
        time, first = comment_records.now(), 1 + max((int(old.id) for old in stored if old.id.isdecimal()), default=0)
        records = [replace(request, id=str(n), time=time, by=by) for n, request in enumerate(requests, start=first)]
        students = {record.student for record in records}
        after = rescore(book, store.entries, [*stored, *records], students, curriculum)
        with result_store.report_store_error(out):
            grade_history.record(out, before, lambda *_: "run")  # what an interrupted run did not record
            comment_records.append(out, records)
            numbers = ", ".join(record.id for record in records)
        score.write(out, after, lambda *_: "comment", by=by, comment=numbers)
    return Regrade(records, before, after)


def rescore(
    book: Gradebook,
    entries: Mapping[str, JournalEntry],
    records: Sequence[CommentRecord],
    students: Collection[str],
    curriculum: Curriculum,
) -> Document:
    """Return a class document in which the comments and scores of some students are those of the records.

    The policy is the one that the class document was made with. So nothing but the records changes a score.

    Raises UsageError if the folder of the class does not say who submitted what.
    """
    out, document, policy = book.out, book.document, book.policy
    group, _ = score.read_class(out, policy, curriculum, document["seed"], records, entries)
    assignments = group.assignments()
    people = [person for person in group.students if person.submission in students]
    changed: dict[str, Document] = {one.submission: group.student_document(one, assignments) for one in people}
    # A note on attempts that were not graded is known only to the run that left them out.
    kept = ("notes", "limit_note")
    entries_before = document["students"]
    merged = [{**changed.get(one["submission"], one), **{key: one[key] for key in kept}} for one in entries_before]
    return {**document, "students": merged}

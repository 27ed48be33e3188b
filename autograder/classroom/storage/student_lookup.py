"""Find a student of a graded class by any name that an instructor has for them."""

from autograder.classroom.storage.gradebook import Gradebook
from autograder.classroom.submissions.student_names import StudentNames
from autograder.core.text import clean, listed
from autograder.documents.reading import Document
from autograder.errors import UsageError

MAX_CHOICES = 6


def find_student(book: Gradebook, name: str) -> Document:
    """Return the student with this submission, id, login, address or name, or a part of the name that no other has.

    Raises UsageError if there is no such student, or there are several.
    """
    names = StudentNames.of_documents(book.students)
    submission = names.find(name, "STUDENT")
    wanted = "" if submission else _normalized(name)
    found = [one for one in book.students if one["submission"] == submission] or [
        one for one in book.students if wanted and wanted in _normalized(f"{one['name']} {one['submission']}")
    ]
    if len(found) == 1:
        return found[0]
    if found:
        named = [f"{clean(other['submission'], 80)} ({clean(other['name'], 80)})" for other in found]
        shown = listed(named, MAX_CHOICES)
        raise UsageError(f"{clean(name, 80)!r} matches {len(found)} students: {shown}. Name one submission")
    raise UsageError(names.unknown(name))


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split())

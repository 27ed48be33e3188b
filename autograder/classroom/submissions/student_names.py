"""Find the student that a name, an id, a login or an address means."""

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.classroom.submissions.model import ClassMember, Student
from autograder.classroom.submissions.roster import identifiers
from autograder.core.text import clean, listed
from autograder.documents.reading import Document
from autograder.errors import UsageError

MAX_CHOICES = 6
EXACT = "submission:"  # before the name of a submission that is also the name of another student


class StudentNames:
    """The names of the students of a class: submissions, names, ids, logins and addresses."""

    def __init__(self, students: Sequence[Student]) -> None:
        self._submissions = {student.submission for student in students}
        self._submissions_by_name: dict[str, set[str]] = defaultdict(set)
        self._submissions_by_person: dict[str, set[str]] = defaultdict(set)  # without the names of submissions
        self._participants: dict[str, set[str]] = defaultdict(set)
        for student in students:
            for name in _personal_names(student):
                self._submissions_by_person[name].add(student.submission)
                self._submissions_by_name[name].add(student.submission)
            for name in (student.submission, *(member.submission for member in student.work.values())):
                self._submissions_by_name[name].add(student.submission)
        for student in students:
            # Moodle starts counting again for each assignment, so its numbers may be the ids of other students.
            for name in _participant_numbers(student):
                if name not in self._submissions_by_name:
                    self._participants[name].add(student.submission)

    @classmethod
    def of_documents(cls, students: Sequence[Mapping[str, Any]]) -> "StudentNames":
        """Return the names of the students of a class document."""
        keys = ("submission", "name", "id", "email", "ids", "roster")
        return cls([Student(**{key: student[key] for key in keys if key in student}) for student in students])

    def find(self, name: str, option: str) -> str | None:
        """Return the submission of the student of that name, or None.

        Raises UsageError if several students have that name; `option` is where the user can give another.
        """
        prefix, _, submission = name.partition(EXACT)
        if not prefix and submission in self._submissions:
            return submission
        if name in self._submissions:
            # A student may have chosen the name of another student as the name of a submission.
            matching = sorted({name, *self._submissions_by_person.get(name, ())})
        else:
            by_name = self._submissions_by_name
            found = by_name.get(name) or by_name.get(_given_name_first(name)) or self._participants.get(name)
            matching = sorted(found or ())
        if len(matching) > 1:
            choices = ", ".join(repr(self._unique_name(submission, name)) for submission in matching)
            raise UsageError(f"{clean(name, 80)!r} matches several students. Name one: {option} with {choices}")
        return matching[0] if matching else None

    def require(self, name: str, option: str) -> str:
        """Return the same; raise UsageError if no student has that name, too."""
        if (submission := self.find(name, option)) is None:
            raise UsageError(self.unknown(name))
        return submission

    def _unique_name(self, submission: str, ambiguous: str) -> str:
        """Return a name that finds only this submission."""
        is_unique = submission != ambiguous and not self._submissions_by_person.get(submission, set()) - {submission}
        return submission if is_unique else f"{EXACT}{submission}"

    def unknown(self, name: str) -> str:
        """Return a message that no student has this name, with the closest name."""
        known = self._submissions_by_name
        same_word = [other for other in sorted(known) if name.casefold() in other.casefold().split()]
        close = same_word or difflib.get_close_matches(_given_name_first(name), known, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Give a name, id, email or submission from grades.csv."
        return f"no student {clean(name, 80)!r} in the class. {hint}"


def find_student(students: Sequence[Document], name: str) -> Document:
    """Return the student with this submission, id, login, address or name, or a part of the name that no other has.

    Raises UsageError if there is no such student, or there are several.
    """
    names = StudentNames.of_documents(students)
    submission, wanted = names.find(name, "STUDENT"), _normalized(name)
    found = [one for one in students if one["submission"] == submission]
    if submission is None and wanted:
        found = [one for one in students if wanted in _normalized(f"{one['name']} {one['submission']}")]
    if len(found) == 1:
        return found[0]
    if found:
        named = [f"{clean(other['submission'], 80)} ({clean(other['name'], 80)})" for other in found]
        shown = listed(named, MAX_CHOICES)
        raise UsageError(f"{clean(name, 80)!r} matches {len(found)} students: {shown}. Name one submission")
    raise UsageError(names.unknown(name))


def _given_name_first(name: str) -> str:
    """Return a name in the order in which class documents have it: "Lovelace, Ada" is "Ada Lovelace"."""
    return " ".join(part.strip() for part in reversed(name.split(",", 1)))


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split())


def _personal_names(student: Student) -> set[str]:
    members: list[ClassMember] = list(student.work.values())
    names = {student.name, student.id, student.email, *student.ids.values()}
    names |= {text for member in members for text in (member.name, member.id, member.email)}
    return {*names - _participant_numbers(student), *identifiers(student.roster)} - {""}


def _participant_numbers(student: Student) -> set[str]:
    return {number for platform, number in student.ids.items() if platform.partition(":")[0] == "moodle"}

"""The submissions of a class as plain records: who, which attempts, where the files are. Every layout becomes these."""

import hashlib
import os
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from autograder.core.archives import SUFFIXES
from autograder.core.text import clean_name

INSTITUTION = "institution"  # the key of an id that the institution gave, in place of a platform
# Canvas adds a test student ("Student View") to each course: "Student, Test" in lower case without blanks.
TEST_STUDENT_NAMES = {"studenttest", "teststudent"}


@dataclass(frozen=True)
class SubmissionPart:
    """A file, a folder or an archive of a submission."""

    path: Path
    name: str = ""  # its original name, if the platform changed it
    assignment: str = ""  # the assignment that it was submitted for, if the layout says so
    root: Path | None = None  # the class's folder, in which no folder on the way to `path` may be a link
    is_unclear: bool = False  # Its name may be another student's choice, and the student has clear ones.


@dataclass(frozen=True)
class Attempt:
    """One attempt of one student."""

    parts: tuple[SubmissionPart, ...]
    times: dict[str, datetime] = field(default_factory=dict)  # by assignment; the key "" stands for all others
    late: bool | None = None  # whether the platform marks it as late; None: it has no such mark
    late_by: timedelta | None = None  # by how much, if the platform says so but gives no date
    assignments: tuple[str, ...] | None = None  # those that it is for; None: the layout does not say
    downloaded: dict[str, str] = field(default_factory=dict)  # name in Canvas's download, by the file's original name

    def includes(self, assignment: str) -> bool:
        """Return whether an assignment was submitted with this attempt, as far as the layout says."""
        return self.assignments is None or assignment in self.assignments

    def upload_name(self, graded_file: str) -> str:
        """Return the name that a bulk upload of feedback on a file, or on one in an archive, must have, or ""."""
        known = {clean_name(original, 120): name for original, name in self.downloaded.items()}
        named = (known[path] for path in (graded_file, graded_file.partition("/")[0]) if path in known)
        return next(named, next(iter(known.values()), ""))

    def submitted_at(self, assignment: str) -> datetime | None:
        """Return when an assignment was submitted, or None if that is unknown."""
        return self.times.get(assignment, self.times.get(""))


@dataclass(frozen=True)
class Source:
    """A folder or an archive of submissions, and the assignments that it is for."""

    name: str  # empty if one folder has all assignments; otherwise a part of file names
    assignments: tuple[str, ...]
    folder: Path
    layout: str = "auto"
    functions: tuple[str, ...] = ()  # the qualified names of those that are graded
    unpacked: Path | None = None  # where the submissions are while a run reads them, if `folder` is an archive

    def part(self, name: str, assignments: tuple[str, ...]) -> "Source":
        """Return the source of some of its assignments only, under another name."""
        functions = tuple(function for function in self.functions if function.partition(".")[0] in assignments)
        return replace(self, name=name, assignments=assignments, functions=functions)


@dataclass(frozen=True)
class ClassMember:
    """One student of one source, with their attempts. Texts that are not known are empty."""

    submission: str  # the name under which the work is graded: unique in its source, and safe to show and to write
    name: str = ""
    id: str = ""  # on the platform
    email: str = ""
    attempts: tuple[Attempt, ...] = ()  # the oldest first
    ids: dict[str, str] = field(default_factory=dict)  # by platform, as read from its own files
    notes: tuple[str, ...] = ()  # for the instructor


@dataclass(frozen=True)
class Student:
    """One student of the class, with the submissions of all sources. Texts that are not known are empty."""

    submission: str  # the name of the student in this class: unique, and safe to show and to write
    name: str = ""
    id: str = ""  # from the roster or the platform
    email: str = ""
    ids: dict[str, str] = field(default_factory=dict)  # by platform, as read from its own files
    roster: dict[str, str] = field(default_factory=dict)  # the student's row of the roster, by column
    section: str = ""
    ta: str = ""
    notes: tuple[str, ...] = ()  # for the instructor
    work: dict[str, ClassMember] = field(default_factory=dict)  # by name of the source

    @property
    def attempts(self) -> int:
        """Return the number of attempts in all sources."""
        return sum(len(member.attempts) for member in self.work.values())


def is_gradable(name: str) -> bool:
    """Return whether a file name is that of a module, a notebook or an archive."""
    return name.lower().endswith((".py", ".ipynb", *SUFFIXES))


def safe_name(name: str) -> str:
    """Return a name that can be shown and written; names that would then look alike get different digests."""
    safe = clean_name(name, 100)
    return safe if safe == name else f"{safe} {hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"

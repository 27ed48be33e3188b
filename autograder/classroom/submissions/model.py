"""What was handed in, as plain records: who, which attempts, where each lies. Every layout becomes these."""

import hashlib
import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder.core.text import clean

SUBMISSION_SUFFIXES = (".py", ".ipynb", ".zip")


@dataclass(frozen=True)
class SubmissionPart:
    """A file, a folder or an archive of a submission.

    Attributes:
        path: where it lies.
        name: the name under which a file counts, where the platform has changed it; empty for its own.
        assignment: the assignment that it was handed in for, if the layout says so; empty if not.
    """

    path: Path
    name: str = ""
    assignment: str = ""


@dataclass(frozen=True)
class Attempt:
    """One attempt of one student.

    Attributes:
        parts: what it consists of; of two files of one name the later part's counts.
        times: when it was handed in, by assignment; the key "" stands for all others.
        late: whether the platform marks it as late, without saying by how much; None: it marks nothing.
    """

    parts: tuple[SubmissionPart, ...]
    times: dict[str, datetime] = field(default_factory=dict)
    late: bool | None = None

    def submitted_at(self, assignment: str = "") -> datetime | None:
        """When it was handed in, for an assignment or (without one) at the latest; None if nobody knows."""
        if assignment:
            return self.times.get(assignment, self.times.get(""))
        return max(self.times.values(), default=None)


@dataclass(frozen=True)
class ClassMember:
    """One student of the class, with what they have handed in.

    Attributes:
        submission: the name under which the work is graded: unique, and safe to show and to write.
        name: of the person, if known; otherwise the submission's.
        id: the platform's or the roster's, if known.
        attempts: the oldest first; none: missing.
        roster: the student's line of the roster, by column; empty if there is none.
        notes: what an instructor should know, such as that the roster does not list the name.
    """

    submission: str
    name: str = ""
    id: str = ""
    email: str = ""
    attempts: tuple[Attempt, ...] = ()
    roster: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def safe_name(name: str) -> str:
    """The name as it can be shown and written; two names that would look alike stay apart."""
    safe = clean(name, 100).replace("\n", " ").replace("\t", " ")
    return safe if safe == name else f"{safe} {hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"

"""The submissions of a class as plain records: who, which attempts, where the files are. Every layout becomes these."""

import hashlib
import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder.core.text import clean


@dataclass(frozen=True)
class SubmissionPart:
    """A file, a folder or an archive of a submission.

    Attributes:
        path: where it is.
        name: the file's original name, if the platform changed it; otherwise empty.
        assignment: the assignment that it was submitted for, if the layout says so; otherwise empty.
    """

    path: Path
    name: str = ""
    assignment: str = ""


@dataclass(frozen=True)
class Attempt:
    """One attempt of one student.

    Attributes:
        parts: its files and folders.
        times: when it was submitted, by assignment; the key "" stands for all others.
        late: whether the platform marks it as late, without saying by how much; None: the platform has no such mark.
    """

    parts: tuple[SubmissionPart, ...]
    times: dict[str, datetime] = field(default_factory=dict)
    late: bool | None = None

    def submitted_at(self, assignment: str = "") -> datetime | None:
        """Return when an assignment was submitted (without one: the latest time), or None if that is unknown."""
        if assignment:
            return self.times.get(assignment, self.times.get(""))
        return max(self.times.values(), default=None)


@dataclass(frozen=True)
class ClassMember:
    """One student of the class, with their attempts.

    Attributes:
        submission: the name under which the work is graded: unique, and safe to show and to write.
        name: the student's name, if known.
        id: the id on the platform or the roster, if known.
        attempts: the oldest first; empty if nothing was submitted.
        roster: the student's row of the roster, by column; empty without a roster.
        notes: what the instructor should know, for example that the roster does not list the name.
    """

    submission: str
    name: str = ""
    id: str = ""
    email: str = ""
    attempts: tuple[Attempt, ...] = ()
    roster: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def is_gradable(name: str) -> bool:
    """Return whether a file name is that of a module, a notebook or an archive."""
    return name.endswith((".py", ".ipynb", ".zip"))


def safe_name(name: str) -> str:
    """Return a name that can be shown and written; names that would then look alike get different digests."""
    safe = clean(name, 100).replace("\n", " ").replace("\t", " ")
    return safe if safe == name else f"{safe} {hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"

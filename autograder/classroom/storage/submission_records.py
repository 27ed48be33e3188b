"""Store what is known about the submissions of a term in `OUT/submissions.json` (schema `headway.submissions/1`).

It says who submitted what and when, without the files, so that scores can be computed again when the downloads are
gone, and so that a run needs only the downloads of the assignments that it grades.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student
from autograder.classroom.submissions.roster import RosterEntry, roster_entries
from autograder.core.files import read_plain_file, write_atomically
from autograder.errors import UsageError

SCHEMA: Final = "headway.submissions/1"
SUBMISSIONS = "submissions.json"


class _AttemptRecord(msgspec.Struct, forbid_unknown_fields=True):
    times: dict[str, datetime]
    late: bool | None
    late_seconds: float | None = None
    assignments: tuple[str, ...] | None = None
    downloaded: dict[str, str] = {}


class _MemberRecord(msgspec.Struct, forbid_unknown_fields=True):
    student: str  # the name of the student in the class
    submission: str
    name: str
    id: str
    email: str
    ids: dict[str, str]
    notes: list[str]
    attempts: list[_AttemptRecord]


class _SourceRecord(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    assignments: list[str]
    functions: list[str]
    folder: str
    layout: str
    members: list[_MemberRecord]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    schema: str
    roster: list[dict[str, str]] | None
    sources: list[_SourceRecord]


@dataclass
class SubmissionRecords:
    """The sources of a term with their students, whose attempts have no files."""

    sources: list[Source] = field(default_factory=list)
    members: dict[str, list[ClassMember]] = field(default_factory=dict)  # by source
    roster: list[dict[str, str]] | None = None  # the rows of the roster; None without one
    names: dict[tuple[str, str], str] = field(default_factory=dict)  # the students, by source and submission

    def roster_entries(self, out: Path) -> list[RosterEntry] | None:
        """Return the people on the roster, or None if there was none."""
        return None if self.roster is None else roster_entries(self.roster, f"the roster in {out / SUBMISSIONS}")


def read(out: Path) -> SubmissionRecords:
    """Return what is stored in the folder `out`: nothing if no class was graded there.

    Raises:
        UsageError: if the file cannot be read or is damaged.
    """
    path = out / SUBMISSIONS
    try:
        document = msgspec.json.decode(read_plain_file(path), type=_Document)
        if document.schema != SCHEMA:
            raise ValueError(f"the schema is {document.schema[:80]!r}; this version of Headway reads {SCHEMA!r}")
    except FileNotFoundError:
        return SubmissionRecords()
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). Check its permissions: ls -l {path}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is damaged ({error}). Move it away and grade all assignments again, or choose another --out DIR"
        ) from None
    records = SubmissionRecords(roster=document.roster)
    for source in document.sources:
        folder = Path(source.folder)
        records.sources.append(
            Source(source.name, tuple(source.assignments), folder, source.layout, tuple(source.functions))
        )
        records.members[source.name] = [_member(member) for member in source.members]
        records.names.update({(source.name, member.submission): member.student for member in source.members})
    return records


def _member(record: _MemberRecord) -> ClassMember:
    attempts = tuple(map(_attempt, record.attempts))
    notes = tuple(record.notes)
    return ClassMember(record.submission, record.name, record.id, record.email, attempts, record.ids, notes)


def _attempt(record: _AttemptRecord) -> Attempt:
    late_by = None if record.late_seconds is None else timedelta(seconds=record.late_seconds)
    return Attempt((), record.times, record.late, late_by, record.assignments, record.downloaded)


def write(
    out: Path,
    sources: Sequence[Source],
    members: Mapping[str, Sequence[ClassMember]],
    students: Sequence[Student],
    roster: Sequence[RosterEntry] | None,
) -> None:
    """Store the sources of a term and their students atomically."""
    names = {
        (source, member.submission): student.submission
        for student in students
        for source, member in student.work.items()
    }
    document = {
        "schema": SCHEMA,
        "roster": None if roster is None else [entry.row for entry in roster],
        "sources": [
            {
                "name": source.name,
                "assignments": source.assignments,
                "functions": source.functions,
                "folder": str(source.folder),
                "layout": source.layout,
                "members": [_record(member, names[source.name, member.submission]) for member in members[source.name]],
            }
            for source in sources
        ],
    }
    content = (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    path = out / SUBMISSIONS
    with contextlib.suppress(OSError):
        if read_plain_file(path) == content:
            return
    write_atomically(path, content, durable=True)


def _record(member: ClassMember, student: str) -> dict[str, Any]:
    return {
        "student": student,
        "submission": member.submission,
        "name": member.name,
        "id": member.id,
        "email": member.email,
        "ids": member.ids,
        "notes": member.notes,
        "attempts": [
            {
                "times": {name: time.isoformat() for name, time in attempt.times.items()},
                "late": attempt.late,
                "late_seconds": attempt.late_by.total_seconds() if attempt.late_by is not None else None,
                "assignments": attempt.assignments,
                "downloaded": attempt.downloaded,
            }
            for attempt in member.attempts
        ],
    }

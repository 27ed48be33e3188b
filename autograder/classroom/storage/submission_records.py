"""Store what is known about the submissions of a term in `OUT/submissions.json` (schema `headway.submissions/1`).

It says who submitted what and when, without the files, so that scores can be computed again when the downloads are
gone, and so that a run needs only the downloads of the assignments that it grades.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

import msgspec

from autograder.classroom.submissions.model import ClassMember, Source, Student
from autograder.classroom.submissions.roster import RosterEntry, roster_entries
from autograder.core.files import read_plain_file, write_atomically
from autograder.errors import UsageError

SCHEMA: Final = "headway.submissions/1"
SUBMISSIONS = "submissions.json"


@dataclass
class SubmissionRecords:
    """The sources of a term with their students, whose attempts have no files."""

    schema: Literal["headway.submissions/1"] = SCHEMA
    roster: list[dict[str, str]] | None = None  # the rows of the roster; None without one
    sources: list[Source] = field(default_factory=list)
    members: dict[str, list[ClassMember]] = field(default_factory=dict)  # by source
    names: dict[str, dict[str, str]] = field(default_factory=dict)  # the students, by source and submission

    def roster_entries(self, out: Path) -> list[RosterEntry] | None:
        """Return the people on the roster, or None if there was none."""
        return None if self.roster is None else roster_entries(self.roster, f"the roster in {out / SUBMISSIONS}")


def read(out: Path) -> SubmissionRecords:
    """Return what is stored in the folder `out`: nothing if no class was graded there.

    Raises UsageError if the file cannot be read or is damaged.
    """
    path = out / SUBMISSIONS
    try:
        document = json.loads(read_plain_file(path))
        records = msgspec.convert(document, SubmissionRecords, dec_hook=lambda kind, value: kind(value))  # of a path
        if json.loads(_content(records)) != document:
            raise ValueError("it is not what this version of Headway writes")
    except FileNotFoundError:
        return SubmissionRecords()
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}). Check its permissions: ls -l {path}") from None
    except (ValueError, RecursionError) as error:
        hint = "Move it away and grade all assignments again, or choose another --out DIR"
        raise UsageError(f"{path} is damaged ({error}). {hint}") from None
    return records


def write(
    out: Path,
    sources: Sequence[Source],
    members: Mapping[str, Sequence[ClassMember]],
    students: Sequence[Student],
    roster: Sequence[RosterEntry] | None,
) -> None:
    """Store the sources of a term and their students atomically."""

    def without_files(member: ClassMember) -> ClassMember:
        return replace(member, attempts=tuple(replace(attempt, parts=()) for attempt in member.attempts))

    names: dict[str, dict[str, str]] = {source.name: {} for source in sources}
    for student in students:
        for source, member in student.work.items():
            names[source][member.submission] = student.submission
    records = SubmissionRecords(
        roster=None if roster is None else [entry.row for entry in roster],
        sources=[replace(source, unpacked=None) for source in sources],
        members={source.name: list(map(without_files, members[source.name])) for source in sources},
        names=names,
    )
    content, path = _content(records), out / SUBMISSIONS
    with contextlib.suppress(OSError):
        if read_plain_file(path) == content:
            return
    write_atomically(path, content, durable=True)


def _content(records: SubmissionRecords) -> bytes:
    document = msgspec.to_builtins(records, enc_hook=str)
    return (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace")

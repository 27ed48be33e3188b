"""Comments and points that instructors give by hand, with a record of who changed what and why.

`OUT/comments.jsonl` has one JSON object on each line, the oldest first. Lines are only added: a record that was a
mistake is undone by another one. Scores are computed from the records in force (see `student_scores.py`).
"""

import contextlib
import getpass
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from autograder.classroom.policy.model import FINITE
from autograder.classroom.scoring.student_scores import ManualPoints, RubricPoints, StudentDecisions, adjustment
from autograder.core.files import read_plain_file, report_read_error, report_write_error, write_atomically
from autograder.core.text import clean
from autograder.documents.types import LocationRecord
from autograder.errors import UsageError

COMMENTS = "comments.jsonl"
MAX_TEXT = 10_000
PLACE = r"^$|^[^:/\\]+:[1-9][0-9]{0,5}$"  # the name of a file or cell, and the number of a line
_Points = Annotated[float, Meta(ge=-10_000, le=FINITE)]


class CommentRecord(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One decision: a comment, points for a rubric item, points added, a score, or that another record is undone.

    Number, time and author of a decision that is not recorded yet are empty: see `requested`.
    """

    id: str
    time: str  # ISO 8601
    by: str
    student: str  # the name of the submission
    assignment: str = ""  # empty: a comment on all of them
    text: str = ""  # what the student reads
    place: Annotated[str, Meta(pattern=PLACE)] = ""  # the line of code that it is about: "softmax.py:12"
    code: str = ""  # the text of that line
    reuses: str = ""  # the name of its text in course.toml
    rubric: str = ""  # the id of the rubric item that `points` are for
    points: _Points | None = None  # for the rubric item
    add: _Points | None = None  # added to the score
    score: Annotated[float, Meta(ge=0, le=FINITE)] | None = None  # replaces the score
    reason: str = ""  # for the record only, not for the student
    undoes: str = ""  # the id of a record that no longer counts
    asks: str = ""  # the question of the student, which waits for a comment
    file: str = ""  # the submitted file that counts for the assignment
    owner: str = ""  # the id of the person on the roster whose work this is
    settles: tuple[str, ...] = ()  # the ids of open questions that need no more attention

    @property
    def changes_points(self) -> bool:
        """Whether the record changes points."""
        return (self.points, self.add, self.score) != (None, None, None)

    @property
    def is_choice(self) -> bool:
        """Whether the record decides an open question (`headway choose`)."""
        return bool(self.file or self.owner or self.settles)

    @property
    def summary(self) -> str:
        """The decision in a few words, without the text."""
        if self.undoes:
            return f"undid comment {self.undoes}"
        if self.is_choice:
            return f"chose {self.file or self.owner or 'to leave it as it is'}"
        if self.asks:
            return f"asks: {self.asks}"
        if self.rubric:
            return f"{self.points:g} points for {self.rubric}"
        if self.score is not None:
            return f"score set to {self.score:g}"
        return "comment" if self.add is None else f"{self.add:+g} points"


requested = partial(CommentRecord, "", "", "")


def current_user() -> str:
    """Return the name under which decisions of this user are recorded, unless another is given."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user has no name, as in some containers
        return "unknown"


def read(out: Path) -> list[CommentRecord]:
    """Return all records in the folder `out`; raise UsageError if a line is damaged, because it may hold points."""
    path, lines, records = out / COMMENTS, list[bytes](), []
    with report_read_error(path), contextlib.suppress(FileNotFoundError):
        lines = read_plain_file(path).splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                records.append(msgspec.json.decode(line, type=CommentRecord))
            except (ValueError, RecursionError) as error:
                problem = f"{path}, line {number} is damaged ({clean(error, 200)})"
                raise UsageError(f"{problem}. Repair the line, or delete it if the decision is void") from None
    return records


def append(out: Path, records: Sequence[CommentRecord]) -> None:
    """Add records; the file is complete on disk when this returns, and its old lines are not changed."""
    path = out / COMMENTS
    old = read_plain_file(path) if path.exists() else b""
    old += b"" if not old or old.endswith(b"\n") else b"\n"
    lines = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    with report_write_error(path, "Check its permissions"):
        write_atomically(path, old + lines, durable=True)


def in_force(records: Sequence[CommentRecord]) -> list[CommentRecord]:
    """Return the records that count: neither those that another one undoes, nor that one."""
    undone = {record.undoes for record in records}
    return [record for record in records if not record.undoes and record.id not in undone]


def decisions(records: Sequence[CommentRecord]) -> defaultdict[str, StudentDecisions]:
    """Return what has been decided, by student."""
    found: defaultdict[str, StudentDecisions] = defaultdict(StudentDecisions)
    for record in in_force(records):
        student = found[record.student]
        student.settled.update(record.settles)
        if record.file:
            student.chosen[record.assignment] = record.file
        if record.rubric or record.changes_points:
            manual = student.manual.setdefault(record.assignment, ManualPoints())
            if record.rubric:
                manual.rubric[record.rubric] = RubricPoints(max(0.0, record.points or 0.0), record.text)
            else:
                change = adjustment(record.text, record.add or 0.0, record.score, record.by, record.time)
                manual.adjustments.append(change)
        if record.asks:
            student.requests.append((record.assignment, record.asks, record.id))
        elif not record.is_choice:  # A comment answers what was asked about its assignment.
            student.requests = [one for one in student.requests if record.assignment not in ("", one[0])]
        if not (record.changes_points or record.is_choice or record.asks):
            by, text = clean(record.by, 120), clean(record.text, MAX_TEXT)
            file, _, line = record.place.rpartition(":")
            location: LocationRecord = {"file": file, "line": int(line or 0), "text": record.code}
            student.comments.append({
                "time": record.time, "by": by, "assignment": record.assignment, "text": text,
                "location": location if file else None, "reuses": record.reuses,
            })  # fmt: skip
    return found


def owners(records: Sequence[CommentRecord]) -> dict[str, str]:
    """Return the ids of the people to whom stray work belongs, by the name of the submission."""
    return {record.student: record.owner for record in in_force(records) if record.owner}


def warnings(
    records: Sequence[CommentRecord], students: Iterable[str], rubrics: Mapping[str, Collection[str]]
) -> list[str]:
    """Return a line for each kind of record without effect; `rubrics` has the ids of the items, by assignment."""
    known, problems = set(students), dict[str, None]()  # an ordered set
    for record in in_force(records):
        if record.owner:  # The work is this person's now, and no submission of its own.
            continue
        if record.student not in known:
            problem = f"{clean(record.student, 80)!r} is not in the class"
        elif record.assignment and record.assignment not in rubrics:
            problem = f"{record.assignment} is not graded"
        elif record.rubric and record.rubric not in rubrics[record.assignment]:
            problem = f"{record.assignment} has no rubric item {record.rubric!r} any more"
        else:
            continue
        problems[f"{COMMENTS}: {problem}, so comment {record.id} is not used."] = None
    return list(problems)

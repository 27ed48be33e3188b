"""Store what later runs and commands need to know of a run: its settings, and who submitted what.

`OUT/run.json` (schema `headway.run/1`) has the seed, the policy file and the roster, so that `headway grade --out OUT`
and `headway comment` find them again. Paths are relative to OUT.

`OUT/submissions.json` (schema `headway.submissions/1`) says who submitted what and when in a term, without the files,
so that scores can be computed again when the downloads are gone, and so that a run needs only the downloads of the
assignments that it grades.
"""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec

from autograder.classroom.policy.model import Count, Policy
from autograder.classroom.policy.policy_file import POLICY_FILE, find_policy_file, load_policy
from autograder.classroom.submissions.model import ClassMember, Source, Student
from autograder.classroom.submissions.roster import RosterEntry, roster_entries
from autograder.core.files import read_plain_file, report_read_error, write_atomically
from autograder.course import Curriculum
from autograder.engine.inputs import fresh_seed
from autograder.errors import UsageError

RUN, SUBMISSIONS = "run.json", "submissions.json"


@dataclass
class RunSettings:
    """The stored settings of the last run; None or empty where nothing was given."""

    schema: Literal["headway.run/1"] = "headway.run/1"
    seed: Count | None = None
    course: str = ""
    roster: str = ""


@dataclass
class SubmissionRecords:
    """The sources of a term with their students, whose attempts have no files."""

    schema: Literal["headway.submissions/1"] = "headway.submissions/1"
    roster: list[dict[str, str]] | None = None  # the rows of the roster; None without one
    sources: list[Source] = field(default_factory=list)
    members: dict[str, list[ClassMember]] = field(default_factory=dict)  # by source
    names: dict[str, dict[str, str]] = field(default_factory=dict)  # the students, by source and submission

    def roster_entries(self, out: Path) -> list[RosterEntry] | None:
        """Return the people on the roster, or None if there was none."""
        return None if self.roster is None else roster_entries(self.roster, f"the roster in {out / SUBMISSIONS}")


def read_settings(out: Path) -> RunSettings:
    """Return the settings in the folder `out`; empty ones if there are none that can be read."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        return msgspec.json.decode(read_plain_file(out / RUN), type=RunSettings)
    return RunSettings()


def write_settings(out: Path, seed: int, course: Path | None, roster: Path | None) -> None:
    """Store the settings of a run."""
    _write(out / RUN, RunSettings(seed=seed, course=_relative_to(out, course), roster=_relative_to(out, roster)))


def find_seed(out: Path, policy: Policy) -> int:
    """Return the seed of the policy, or that of the last run, or a fresh one."""
    seed = read_settings(out).seed if policy.seed is None else policy.seed
    return fresh_seed() if seed is None else seed


def find_policy(
    out: Path, folder: Path | None, course: Path | None, curriculum: Curriculum
) -> tuple[Policy, Path | None]:
    """Return the policy and its file: `course`, or course.toml in the submissions or in OUT, or that of the last run.

    The roster in the policy is relative to the working directory.
    """
    path = course or (find_policy_file(folder) if folder else None)
    if path is None and os.path.isfile(out / POLICY_FILE):
        path = out / POLICY_FILE
    if path is None and (recorded := read_settings(out).course):
        path = _resolved(out, recorded)
        if not os.path.isfile(path):
            raise UsageError(f"the policy file of the last run is gone: {path}. Name it again: --course FILE")
    return (Policy(), None) if path is None else (load_policy(path, curriculum), path)


def find_roster(out: Path, policy: Policy, course: Path | None, roster: Path | None) -> Path | None:
    """Return the roster: `roster`, or that of the policy, or that of the last run if it still exists."""
    if roster is not None:
        return roster
    if policy.roster and course is not None:
        return course.parent / policy.roster
    recorded = read_settings(out).roster
    path = _resolved(out, recorded)
    return path if recorded and os.path.isfile(path) else None


def read_submissions(out: Path) -> SubmissionRecords:
    """Return what is stored in the folder `out`: nothing if no class was graded there.

    Raises UsageError if the file cannot be read or is damaged.
    """
    path = out / SUBMISSIONS
    if not path.exists():
        return SubmissionRecords()
    try:
        with report_read_error(path):
            document = json.loads(read_plain_file(path))
        records = msgspec.convert(document, SubmissionRecords, dec_hook=lambda kind, value: kind(value))  # of a path
        if json.loads(_content(records)) != document:
            raise ValueError("it is not what this version of Headway writes")
        return records
    except (ValueError, RecursionError) as error:
        hint = "Move it away and grade all assignments again, or choose another --out DIR"
        raise UsageError(f"{path} is damaged ({error}). {hint}") from None


def write_submissions(
    out: Path,
    sources: Sequence[Source],
    members: Mapping[str, Sequence[ClassMember]],
    students: Sequence[Student],
    roster: Sequence[RosterEntry] | None,
) -> None:
    """Store the sources of a term and their students."""

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
    _write(out / SUBMISSIONS, records)


def _write(path: Path, records: RunSettings | SubmissionRecords) -> None:
    """Write the file atomically, if its content has changed."""
    content = _content(records)
    with contextlib.suppress(OSError):
        if read_plain_file(path) == content:
            return
    write_atomically(path, content, durable=True)


def _content(records: RunSettings | SubmissionRecords) -> bytes:
    document = msgspec.to_builtins(records, enc_hook=str)
    return (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _relative_to(out: Path, path: Path | None) -> str:
    """Return a path as it is stored: relative to OUT, or absolute if it is on another drive."""
    if path is None:
        return ""
    try:
        return Path(os.path.relpath(path, out)).as_posix()
    except ValueError:
        return str(path.resolve())


def _resolved(out: Path, recorded: str) -> Path:
    return Path(os.path.normpath(out / recorded))

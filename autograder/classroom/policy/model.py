"""The grading policy of a class: the types that `course.toml` is validated against (see `policy_file.py`).

`class_setup/templates/course.toml` shows every key with an example. The `description` of a type completes "must be …"
in errors.
"""

import fnmatch
import sys
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from autograder.documents.results import Level
from autograder.sandbox.limits import Limits

MIB = 1 << 20
FINITE = sys.float_info.max  # msgspec accepts infinity unless there is an upper bound

Amount = Annotated[float, Meta(ge=0, le=FINITE, description="a number, at least 0")]
Count = Annotated[int, Meta(ge=0, description="a whole number, at least 0")]
BankDays = Annotated[int, Meta(ge=0, le=100, description="a whole number from 0 to 100")]
Share = Annotated[float, Meta(ge=0, le=1, description="a share from 0 to 1 (0.1 is a tenth)")]
_DUE = "2026-10-01T23:59:00+02:00 (two hours east of UTC) or 2026-10-01T23:59:00Z (UTC)"
DueDate = Annotated[datetime, Meta(tz=True, description=f"a date, a time and a time zone, without quotes: {_DUE}")]
CallSeconds = Annotated[float, Meta(ge=0.05, le=FINITE, description="a number of seconds, at least 0.05")]
SubmissionSeconds = Annotated[float, Meta(ge=0.1, le=FINITE, description="a number of seconds, at least 0.1")]
CheckPatterns = Annotated[
    tuple[str, ...], Meta(description='a list of check ids, in which * matches any name: ["softmax.softmax::*"]')
]
PackageNames = Annotated[
    tuple[str, ...], Meta(description='a list of packages, as they are imported: ["scipy", "matplotlib"]')
]


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `course.toml`; any other key in it is an error."""


class LatePolicy(Section, frozen=True):
    """The penalty for late submissions."""

    penalty_per_day: Share = 0.0  # of the points, for each day begun
    grace_hours: Amount = 0.0  # after the due date, which do not count as late
    cap: Share = 1.0  # the largest share that can be lost
    of: Literal["earned", "possible"] = "earned"  # the points of which the share is taken
    marked_days: Count = 1  # days late of a submission that the platform marks as late without giving a date
    bank: BankDays = 0  # late days of a student in all assignments together that cost nothing
    bank_each: BankDays = 100  # the most of them in one assignment


class LimitsPolicy(Section, frozen=True):
    """The resources that one submission may use (see `autograder.sandbox.Limits`), and all attempts of a student."""

    call_seconds: CallSeconds = 60.0
    submission_seconds: SubmissionSeconds = 300.0
    memory_mib: Annotated[int, Meta(ge=256, description="a whole number, at least 256")] = 2048
    output_mib: Annotated[int, Meta(ge=1, description="a whole number, at least 1")] = 8
    # Only attempts = "best" grades more than one attempt of a student. The newest are graded first.
    student_attempts: Annotated[int, Meta(ge=1, description="a whole number, at least 1")] = 100
    student_seconds: SubmissionSeconds = 1800.0  # CPU time in one run
    result_mib: Annotated[int, Meta(ge=1, le=256, description="a whole number from 1 to 256")] = 64

    def sandbox_limits(self) -> Limits:
        """Return the limits in the units of the sandbox."""
        return Limits(
            call_seconds=self.call_seconds,
            submission_seconds=self.submission_seconds,
            cpu_seconds=min(self.submission_seconds, self.student_seconds),
            memory_bytes=self.memory_mib * MIB,
            output_bytes=self.output_mib * MIB,
            result_bytes=self.result_mib * MIB,
        )


class ChecksPolicy(Section, frozen=True):
    """The hidden checks, as patterns of check ids: they are graded, but students see only their points."""

    hidden: CheckPatterns = ()

    def hides(self, check_id: str) -> bool:
        """Return whether a pattern names a check."""
        return any(fnmatch.fnmatchcase(check_id, pattern) for pattern in self.hidden)


class PackagesPolicy(Section, frozen=True):
    """The packages that submissions may import besides the standard library, NumPy and `regex`."""

    allow: PackageNames = ()


class RubricItem(Section, frozen=True):
    """One `[[assignments.NAME.rubric]]` entry: a question that a person marks with `headway comment`."""

    id: str = ""
    title: str = ""
    points: Amount = 0.0


class AssignmentPolicy(Section, frozen=True):
    """What one assignment is worth, and when it is due."""

    points: Amount | None = None  # for the code of a perfect submission; None: the points of its functions
    weight: Amount | None = None  # in the student's score; None (for all assignments): the points; 0: not counted
    due: DueDate | None = None
    functions: dict[str, Amount] = {}  # points by function instead of the points of its checks; 0: not counted
    rubric: tuple[RubricItem, ...] = ()  # their points are added to the possible points

    def worth(self, check_points: Mapping[str, float], bonus: Collection[str]) -> dict[str, float]:
        """Return what each function is worth, given the points of its checks; `bonus` are not part of `points`."""
        worth = {name: self.functions.get(name, points) for name, points in check_points.items()}
        code = sum(points for name, points in worth.items() if name not in bonus)
        scale = 1.0 if self.points is None else self.points / code if code else 0.0
        return {name: points * scale for name, points in worth.items()}


class PolicyException(Section, frozen=True):
    """One `[[exceptions]]` entry: what differs for one student."""

    student: str = ""  # any name that `headway grade --only` accepts
    assignment: str = ""  # empty: all of them
    due: DueDate | None = None
    late_days: Count | None = None  # whatever the due date and the platform say
    bank_days: Count | None = None  # late days that the student takes from the bank; None: as helps most
    # Points added after the late penalty, or deducted if negative.
    bonus: Annotated[float, Meta(ge=-10_000, le=FINITE, description="a number, at least -10000")] = 0.0
    score: Amount | None = None  # points given by hand, which replace checks, late penalty and bonus
    excused: bool = False  # whether the assignment does not count for this student
    reason: str = ""  # shown to the student


class Policy(Section, frozen=True):
    """Everything that `course.toml` can set; `roster` and `layout` are the options of `headway grade`."""

    title: str = ""
    time_zone: str = "UTC"  # in which reports show times, such as Europe/Berlin
    seed: Count | None = None
    roster: str = ""
    layout: Literal["auto", "plain", "nbgrader", "canvas", "moodle", "gradescope", "github"] = "auto"
    attempts: Literal["last", "first", "best"] = "last"
    feedback: Level = "summary"
    own_prerequisites: bool = False
    drop_lowest: Count = 0
    replace_lowest_by: str = ""  # the assignment, often the final, whose share replaces the lowest if it is higher
    bonus: Literal["cap", "extra", "off"] = "cap"  # what points beyond the possible points of an assignment are worth
    late: LatePolicy = LatePolicy()
    limits: LimitsPolicy = LimitsPolicy()
    checks: ChecksPolicy = ChecksPolicy()
    packages: PackagesPolicy = PackagesPolicy()
    comments: dict[str, str] = {}  # texts for many students, by name: headway comment --as NAME
    assignments: dict[str, AssignmentPolicy] = {}
    exceptions: tuple[PolicyException, ...] = ()

    def is_hidden(self, check_id: str) -> bool:
        """Return whether students see only the points of a check, at the level of feedback."""
        return self.checks.hides(check_id) if self.feedback == "summary" else self.feedback == "none"

    def with_options(self, options: Mapping[str, Any]) -> "Policy":
        """Return a copy changed by command-line options: those of these names that were given, and no others."""
        given = {key: value for key, value in options.items() if value is not None and value is not False}
        limits = replace(self.limits, **{key: given[key] for key in LimitsPolicy.__struct_fields__ if key in given})
        names = ("seed", "layout", "feedback", "own_prerequisites")
        return replace(self, limits=limits, **{key: given[key] for key in names if key in given})

"""The types of stored documents, as far as reports and exports rely on them; `schema/` describes every key.

A document read from disk is validated against them, so that a damaged one cannot stop a report halfway.
"""

from typing import Any, Literal, NotRequired, TypedDict

CheckStatus = Literal["passed", "failed", "error", "timeout", "not_started", "blocked"]
# Why a check did not pass, where a report treats it differently; empty for every other reason.
Failure = Literal["", "unreadable_file", "failed_import", "slow_import", "documented_error", "missing"]
SubmissionStatus = Literal["graded", "missing", "unreadable", "failed", "waiting"]


class PointsRecord(TypedDict):
    """Points of a check, a function, an assignment or a submission."""

    earned: float
    possible: float


class WorstRecord(TypedDict):
    """The value with the largest error."""

    index: list[int]
    axes: list[str]
    yours: float | bool | str
    expected: float | bool | str
    tolerance: float


class ShapesRecord(TypedDict):
    """The shape of an answer and the expected one."""

    yours: list[int]
    expected: list[int]


class ErrorMapRecord(TypedDict):
    """The map of wrong elements."""

    rows: list[str]
    axes: list[str]
    at: str
    shape: list[int]


class DiagnosedMistake(TypedDict):
    """A known mistake that explains a check."""

    id: str
    title: str
    reason: NotRequired[str]
    explanation: NotRequired[str]
    hint: NotRequired[str]


class LocationRecord(TypedDict):
    """A line of the student's code."""

    file: str
    line: int
    text: NotRequired[str]
    called_from: NotRequired["LocationRecord"]  # the line of the function under check that led there


class CheckDocument(TypedDict):
    """One check of a result document."""

    id: str
    function: str
    title: str
    status: CheckStatus
    points: PointsRecord
    message: str
    help: str | None
    inputs: str | None
    wrong: dict[str, int] | None
    worst: WorstRecord | None
    shapes: ShapesRecord | None
    error_map: ErrorMapRecord | None
    first_wrong_stage: str | None
    mistake: DiagnosedMistake | None
    blocked_by: list[str]
    location: LocationRecord | None
    output: str
    warnings: list[str]
    failure: Failure
    file_at_fault: str  # that Python cannot read or import, so that the function did not run; empty if none
    seconds: float


class FunctionDocument(TypedDict):
    """One function of a result document."""

    name: str
    status: CheckStatus
    points: PointsRecord
    checks: list[CheckDocument]


class AssignmentDocument(TypedDict):
    """One assignment of a result document."""

    number: int
    name: str
    title: str
    points: PointsRecord
    functions: list[FunctionDocument]


class UsageRecord(TypedDict):
    """The resources used for a submission."""

    seconds: float
    cpu_seconds: float
    asleep_seconds: float
    grader_seconds: float
    memory_bytes: int
    output_bytes: int
    answer_bytes: int
    processes: int


class ResultDocument(TypedDict):
    """The results of one submission."""

    seed: int
    created: str
    sandbox: list[str]
    points: PointsRecord
    internal_errors: list[str]
    notes: list[str]
    seconds: float
    used: NotRequired[UsageRecord]  # not where checks are hidden
    assignments: list[AssignmentDocument]


class CodePart(TypedDict):
    """Consecutive lines of a submitted file or of a notebook's cell."""

    file: str  # "softmax.py" or "cell 3", as in the locations of checks
    line: int  # the number of the first line
    text: str


class CodeDocument(TypedDict):
    """The code of one submission."""

    modules: dict[str, list[CodePart]]
    left_out: list[str]  # what is too long to be stored, in words


class CourseRecord(TypedDict):
    """The course and its policy."""

    title: str
    policy: dict[str, Any]


class AssignmentRecord(TypedDict):
    """One assignment of a class document."""

    name: str
    title: str
    possible: float
    weight: float
    due: str | None


class RubricRecord(TypedDict):
    """One question that a person marks."""

    id: str
    title: str
    points: float
    earned: float | None  # None: not marked yet
    comment: str


class AdjustmentRecord(TypedDict):
    """A change of a score by an instructor, after the late penalty: points added, or a score that replaces all."""

    text: str
    add: float
    score: float | None
    by: str
    time: str  # empty for an entry of course.toml


class StudentComment(TypedDict):
    """A comment for a student."""

    time: str
    by: str
    assignment: str  # empty: on all of them
    text: str


class GradeRecord(TypedDict):
    """A student's grade in one assignment, and the attempt that it is for."""

    status: SubmissionStatus
    reason: str
    file: str | None  # the result document with the checks of this assignment
    attempt: int
    attempts: int
    submitted_at: str | None
    late: bool | None  # whether the platform marks it as late, where it gives no date
    earned: float
    possible: float
    score: float
    late_days: int
    penalty: float
    bonus: float  # the part of `earned` that bonus functions gave
    counts: Literal["counts", "dropped", "excused", "not counted"]
    excused: bool
    by_hand: bool
    exception: str
    rubric: list[RubricRecord]
    adjustments: list[AdjustmentRecord]
    upload_name: NotRequired[str]  # of the file in Canvas's download, which a bulk upload of feedback must repeat


class StudentDocument(TypedDict):
    """One student of a class document."""

    name: str
    id: str
    email: str
    ids: dict[str, str]  # by platform, as read from its own files
    section: str
    ta: str
    roster: dict[str, str]
    submission: str
    status: SubmissionStatus
    reason: str
    notes: list[str]
    limit_note: str  # that attempts were not graded, and why; empty if all were
    late_days: int
    earned: float
    possible: float
    penalty: float
    dropped: list[str]
    score: float
    out_of: float
    percent: float | None  # of what counts for this student; None if nothing does
    comments: list[StudentComment]
    statuses: dict[str, int]
    seconds: float
    assignments: dict[str, GradeRecord]


class ClassDocument(TypedDict):
    """The results of a class."""

    versions: dict[str, str | None]
    seed: int
    course: CourseRecord
    assignments: list[AssignmentRecord]
    students: list[StudentDocument]
    seconds: float

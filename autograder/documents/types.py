"""The stored documents: the one definition from which types, validation and JSON Schema come.

`reading.py` validates a document that is read, so that a damaged one cannot stop a report halfway. `python -m
autograder.documents.schema` prints the JSON Schema. What `headway check` needs imports this for type checking only,
because msgspec takes time to import and is missing in a browser.
"""

from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict

from msgspec import Meta

from autograder.core.versions import Versions
from autograder.documents.statuses import CheckStatus, Counts, Failure, SubmissionStatus

Amount = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Value = float | bool | str
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
FunctionName = Annotated[str, Meta(pattern=r"^[^.:]+\.[^.:]+$")]
CheckId = Annotated[str, Meta(pattern=r"^[^.:]+\.[^.:]+::.")]
Time = Annotated[str, Meta(description="ISO 8601")]


class PointsRecord(TypedDict):
    """Points of a check, a function, an assignment or a submission; bonus functions have no possible points in it."""

    earned: Amount
    possible: Amount


class WrongRecord(TypedDict):
    """How many values are wrong, of how many."""

    count: Positive
    total: Positive


class WorstRecord(TypedDict):
    """The value with the largest error; nan, inf and complex numbers are text."""

    index: list[Count]
    axes: Annotated[list[str], Meta(description="their names, empty where an axis has only a number")]
    yours: Value
    expected: Value
    tolerance: Annotated[Amount, Meta(description="the largest difference allowed")]


class ShapesRecord(TypedDict):
    """The shape of the student's array, and the expected one."""

    yours: list[Count]
    expected: list[Count]


class ErrorMapRecord(TypedDict):
    """The slice with the largest error, a mark for each value: 0 correct, 1 to 3 size of the error, n not finite."""

    rows: list[Annotated[str, Meta(pattern="^[0123n]*$")]]
    axes: Annotated[list[str], Meta(description="the names of the vertical and the horizontal axis")]
    at: Annotated[str, Meta(description="the index of the slice in the leading axes")]
    shape: list[Count]
    yours: NotRequired[Annotated[list[list[Value]], Meta(description="the values of a small slice")]]
    expected: NotRequired[list[list[Value]]]


class DiagnosedMistake(TypedDict):
    """A known mistake that explains a check."""

    id: str
    title: str
    reason: Annotated[str, Meta(description="the evidence, and what it does not explain")]
    explanation: str
    hint: str


class LocationRecord(TypedDict):
    """A line of the student's code."""

    file: Annotated[str, Meta(description='"softmax.py" or "cell 3"')]
    line: int
    text: Annotated[str, Meta(description="empty if not known")]


class CheckDocument(TypedDict):
    """One check of a result document."""

    id: CheckId
    function: FunctionName
    title: str
    status: CheckStatus
    points: PointsRecord
    message: str
    help: Annotated[str | None, Meta(description="advice, apart from the message")]
    inputs: Annotated[str | None, Meta(description="inputs of the call: shapes of arrays, small values as they are")]
    wrong: WrongRecord | None
    worst: WorstRecord | None
    shapes: ShapesRecord | None
    error_map: ErrorMapRecord | None
    first_wrong_stage: Annotated[str | None, Meta(description="of a function of several stages")]
    mistake: DiagnosedMistake | None
    blocked_by: Annotated[list[str], Meta(description="functions that must be fixed first")]
    location: LocationRecord | None
    called_from: Annotated[LocationRecord | None, Meta(description="line of the function under check that led there")]
    output: Annotated[str, Meta(description="what the student's code printed, shortened")]
    warnings: Annotated[list[str], Meta(description="raised by the student's code; they never change a status")]
    failure: Annotated[Failure, Meta(description="why the check did not pass, where reports treat it differently")]
    file_at_fault: Annotated[str, Meta(description="the file that Python cannot read or import; empty if none")]
    seconds: Amount


class FunctionDocument(TypedDict):
    """One function of a result document."""

    name: str
    status: CheckStatus
    bonus: Annotated[bool, Meta(description="extra work: earns points, is not counted as possible")]
    points: PointsRecord
    checks: Annotated[list[CheckDocument], Meta(min_length=1)]


class AssignmentDocument(TypedDict):
    """One assignment of a result document."""

    number: Positive
    name: str
    title: str
    points: PointsRecord
    functions: Annotated[list[FunctionDocument], Meta(min_length=1)]


class UsageRecord(TypedDict):
    """The resources used for a submission, in all its processes."""

    seconds: Annotated[Amount, Meta(description="wall time of its calls")]
    cpu_seconds: Annotated[Amount, Meta(description="CPU time of its processes")]
    asleep_seconds: Annotated[Amount, Meta(description="time that its processes slept during calls")]
    grader_seconds: Annotated[Amount, Meta(description="CPU time of the grader: reading, comparing, diagnosis")]
    memory_bytes: Annotated[Count, Meta(description="the largest memory of one process")]
    output_bytes: Annotated[Count, Meta(description="printed text")]
    answer_bytes: Annotated[Count, Meta(description="returned values")]
    processes: Count


class CheckedSubmission(TypedDict):
    """The submission of a result document."""

    id: str
    sha256: Digest


class FileRecord(TypedDict):
    """A submitted file: the assignments that it counts as, or why it is ignored."""

    name: Annotated[str, Meta(description="its path in the submission, archives included")]
    counts_as: Annotated[list[str], Meta(description="assignments; empty for a helper that was taken")]
    ignored: Annotated[str, Meta(description="why it does not count; empty if it does")]
    changed: Annotated[Time | None, Meta(description="when the file or its archive was changed, if known")]


class ResultDocument(TypedDict):
    """The results of one run of the checks on one submission."""

    schema: Literal["headway.result/1"]
    submission: CheckedSubmission
    seed: Count
    public_seed: bool
    created: Time
    versions: Versions
    sandbox: Annotated[list[str], Meta(description="what isolated the student's code")]
    packages: Annotated[dict[str, str], Meta(description="versions of what the course allows to import besides NumPy")]
    official_prerequisites: Annotated[bool, Meta(description="checked together with the official earlier assignments")]
    points: PointsRecord
    passed: Annotated[bool, Meta(description="every check passed")]
    internal_errors: Annotated[list[str], Meta(description="failures of Headway itself, not of the submission")]
    notes: Annotated[list[str], Meta(description="what was left out of the submission, and why")]
    files: Annotated[list[FileRecord], Meta(description="what was submitted, first what counts; 60 at most")]
    seconds: Amount
    used: Annotated[UsageRecord | None, Meta(description="null where checks are hidden")]
    assignments: list[AssignmentDocument]


class CodePart(TypedDict):
    """Consecutive lines of a submitted file or of a notebook's cell."""

    file: Annotated[str, Meta(description='"softmax.py" or "cell 3", as in the locations of checks')]
    line: Annotated[Positive, Meta(description="the number of the first line")]
    text: str


class CodeDocument(TypedDict):
    """The code of one submission as it was graded, for people to read."""

    schema: Literal["headway.code/1"]
    modules: Annotated[dict[str, list[CodePart]], Meta(description="by the name of the module, without .py")]
    left_out: Annotated[list[str], Meta(description="what is too long to be stored, in words")]


class CourseRecord(TypedDict):
    """The course and its policy."""

    title: str
    policy: Annotated[dict[str, Any], Meta(description="the policy in force, as in course.toml")]


class AssignmentRecord(TypedDict):
    """One assignment of a class document."""

    name: str
    title: str
    possible: Annotated[Amount, Meta(description="0 before the first result")]
    weight: Amount
    due: Time | None


class RubricRecord(TypedDict):
    """One question that a person marks."""

    id: str
    title: str
    points: Amount
    earned: Annotated[Amount | None, Meta(description="null: not marked yet")]
    comment: str


class AdjustmentRecord(TypedDict):
    """A change of a score by an instructor, after the late penalty: points added, or a score that replaces all."""

    text: Annotated[str, Meta(description="why, for the student")]
    add: Annotated[float, Meta(description="points added, or deducted if negative")]
    score: Annotated[Amount | None, Meta(description="replaces everything before it")]
    by: str
    time: Annotated[Time, Meta(description="ISO 8601; empty for an entry of course.toml")]


class StudentComment(TypedDict):
    """A comment for a student."""

    time: Time
    by: str
    assignment: Annotated[str, Meta(description="empty: on all of them")]
    text: str
    location: Annotated[LocationRecord | None, Meta(description="the line that it is about")]
    reuses: Annotated[str, Meta(description="the name of its text in course.toml; empty: it has none")]


QuestionKind = Literal[
    "identity", "no_result", "unreadable", "versions", "chosen", "nothing_written", "elsewhere", "request", "exception"
]


class OpenQuestion(TypedDict):
    """Something that a person should decide or look at before the grade counts."""

    id: str
    kind: QuestionKind
    assignment: Annotated[str, Meta(description="empty: all of them")]
    files: Annotated[
        list[str], Meta(description="the files in question; of several versions, first what counts or will")
    ]
    reason: Annotated[str, Meta(description="what is known about it; may be empty")]


class GradeRecord(TypedDict):
    """A student's grade in one assignment, and the attempt that it is for."""

    status: SubmissionStatus
    reason: Annotated[str, Meta(description="why it is not graded")]
    file: Annotated[str | None, Meta(description="the result document with its checks, relative to this document")]
    attempt: Annotated[Count, Meta(description="the attempt that counts, from 1; 0 if there is none")]
    attempts: Count
    graded_file: Annotated[str, Meta(description="the submitted file that counts; empty if there is none")]
    submitted_at: Time | None
    late: Annotated[bool | None, Meta(description="whether the platform marks it as late; null: it has no such mark")]
    earned: Annotated[Amount, Meta(description="before late penalty and adjustments, bonus and rubric included")]
    possible: Amount
    score: Amount
    late_days: Count
    bank_days: Annotated[Count, Meta(description="how many of the late days the bank pays for")]
    penalty: Annotated[Amount, Meta(description="points lost for lateness")]
    replaced_by: Annotated[str, Meta(description="the assignment whose share it has; empty: its own")]
    bonus: Annotated[Amount, Meta(description="the part of earned that bonus functions gave")]
    counts: Annotated[Counts, Meta(description="not counted: its weight or its points are 0")]
    excused: Annotated[bool, Meta(description="does not count for this student")]
    by_hand: Annotated[bool, Meta(description="the score was set by the instructor")]
    exception: Annotated[str, Meta(description="the exception made for this student, in words; empty if none")]
    rubric: list[RubricRecord]
    adjustments: Annotated[list[AdjustmentRecord], Meta(description="in the order in which they apply")]
    upload_name: NotRequired[Annotated[str, Meta(description="of the file in Canvas's download; feedback repeats it")]]


class StudentDocument(TypedDict):
    """One student of a class document."""

    name: str
    id: Annotated[str, Meta(description="from the roster or the platform; empty if unknown")]
    email: str
    ids: Annotated[dict[str, str], Meta(description="by platform (canvas, moodle, moodle:ASSIGNMENT …)")]
    section: Annotated[str, Meta(description="from the roster")]
    ta: Annotated[str, Meta(description="from the roster")]
    roster: Annotated[dict[str, str], Meta(description="the student's line in the roster")]
    submission: Annotated[str, Meta(description="the name under which the work was graded")]
    status: SubmissionStatus
    reason: Annotated[str, Meta(description="why it is not graded")]
    notes: list[str]
    limit_note: Annotated[str, Meta(description="that attempts were not graded, and why; empty if all were")]
    late_days: Count
    earned: Annotated[Amount, Meta(description="points in all assignments, before the policy")]
    possible: Amount
    penalty: Annotated[Amount, Meta(description="points lost for lateness")]
    dropped: list[str]
    score: Annotated[Amount, Meta(description="the weighted total of the assignments that count")]
    out_of: Annotated[Amount, Meta(description="the weights of those assignments")]
    percent: Annotated[Amount | None, Meta(description="score in percent of out_of; null if nothing counts")]
    comments: list[StudentComment]
    open: Annotated[list[OpenQuestion], Meta(description="what a person should decide or look at")]
    statuses: Annotated[dict[str, Positive], Meta(description="how many checks have each status")]
    seconds: Amount
    assignments: dict[str, GradeRecord]


class ClassDocument(TypedDict):
    """The students of a class, their graded submissions, and their scores under the policy."""

    schema: Literal["headway.class/1"]
    versions: Versions
    seed: Count
    course: CourseRecord
    assignments: list[AssignmentRecord]
    students: list[StudentDocument]
    open: Annotated[list[OpenQuestion], Meta(description="about no student of the class")]
    seconds: Annotated[Amount, Meta(description="wall time of the last run")]


DOCUMENTS: Final = {
    "headway.result/1": ResultDocument,
    "headway.class/1": ClassDocument,
    "headway.code/1": CodeDocument,
}

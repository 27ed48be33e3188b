"""The results of the checks on one submission, and the `headway.result/1` document that every report is made from."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from autograder.core.text import now
from autograder.core.versions import versions
from autograder.course import Curriculum
from autograder.documents.reading import RESULT_SCHEMA, Document
from autograder.documents.statuses import CheckStatus, Failure

if TYPE_CHECKING:
    from autograder.documents import types

Level = Literal["full", "summary", "none"]
Status = CheckStatus
STATUSES: tuple[Status, ...] = get_args(Status)
DIAGNOSED: tuple[Status, ...] = ("failed", "error")  # A check that was stopped has no answer to diagnose.
_MOST_URGENT_FIRST: tuple[Status, ...] = ("error", "timeout", "failed", "blocked", "not_started")


@dataclass
class CheckResult:
    """The result of one check on one submission."""

    id: str  # `module.function::name of the check`
    function: str
    title: str
    status: Status
    possible: float
    earned: float = 0.0
    message: str = ""
    help: str | None = None  # advice, apart from the message
    inputs: str | None = None  # shapes of arrays, small values as they are
    wrong: "types.WrongRecord | None" = None
    worst: "types.WorstRecord | None" = None
    shapes: "types.ShapesRecord | None" = None
    error_map: "types.ErrorMapRecord | None" = None
    first_wrong_stage: str | None = None  # of a function of several stages
    mistake: "types.DiagnosedMistake | None" = None  # the known mistake that gives the same values
    blocked_by: list[str] = field(default_factory=list)  # functions that must be fixed first
    location: "types.LocationRecord | None" = None
    called_from: "types.LocationRecord | None" = None  # the line of the function under check that led there
    output: str = ""  # what the student's code printed
    warnings: list[str] = field(default_factory=list)  # raised by the student's code; they never change a status
    failure: Failure = ""
    file_at_fault: str = ""  # the student's file that Python could not read or import
    # Not in the document: the part of the message that reveals an expected value, and its replacement; and whether the
    # check compares answers that must have been computed (see `engine.fixtures.sees_answers`).
    secret: tuple[str, str] | None = None
    sees_answers: bool = True
    calls: tuple[Any, ...] = ()  # of the student's functions, if the check failed and they are to be kept
    seconds: float = 0.0  # wall time of the student's calls, without that of the reference

    @property
    def was_wrong(self) -> bool:
        """Return whether the function returned something wrong, rather than nothing."""
        return self.wrong is not None or self.shapes is not None


@dataclass
class SubmissionResult:
    """The results of one run of the checks on one submission."""

    submission: str
    content_hash: str
    seed: int
    checks: list[CheckResult]
    internal_errors: list[str] = field(default_factory=list)  # failures of Headway itself
    notes: list[str] = field(default_factory=list)  # files left out when the submission was collected, and why
    files: "list[types.FileRecord]" = field(default_factory=list)  # all that were submitted
    official_prerequisites: bool = False  # Each assignment was checked together with the official earlier ones.
    sandbox: list[str] = field(default_factory=lambda: ["process"])  # what isolated the student's code
    packages: dict[str, str] = field(default_factory=dict)  # that it could import besides NumPy: name -> version
    seconds: float = 0.0  # wall time of the whole run
    used: "types.UsageRecord | None" = None

    @property
    def earned(self) -> float:
        """Return the points earned."""
        return _earned(self.checks)

    @property
    def charged_seconds(self) -> float:
        """Return the CPU time of all that was done for this submission, and the time that its processes slept."""
        return sum(self.used[key] for key in ("cpu_seconds", "asleep_seconds", "grader_seconds")) if self.used else 0.0

    def possible(self, curriculum: Curriculum) -> float:
        """Return the possible points; bonus functions are not counted."""
        return _possible(self.checks, curriculum)

    @property
    def passed(self) -> bool:
        """Return whether every check passed."""
        return bool(self.checks) and all(check.status == "passed" for check in self.checks)


@dataclass(frozen=True)
class ProgressEntry:
    """The latest result of one function: its status and points, and the fingerprint of the code that was checked."""

    fingerprint: str
    status: Status
    earned: float
    possible: float
    since: str  # when the function reached this status, ISO 8601 in UTC


def function_status(checks: Iterable[CheckResult]) -> Status:
    """Return one status for all checks of a function: the most urgent one."""
    return most_urgent({check.status for check in checks})


def most_urgent(statuses: Collection[str]) -> Status:
    """Return the most urgent status of all checks of a function."""
    return next((status for status in _MOST_URGENT_FIRST if status in statuses), "passed")


def hide(checks: Sequence[CheckResult], is_hidden: Callable[[str], bool]) -> list[CheckResult]:
    """Return the checks with nothing of the hidden ones but their points, and whether they passed."""
    statuses: dict[str, set[str]] = {}
    for check in checks:
        statuses.setdefault(check.function, set()).add(check.status)
    return [_points_only(check, statuses[check.function]) if is_hidden(check.id) else check for check in checks]


def _points_only(check: CheckResult, statuses: Collection[str]) -> CheckResult:
    """Return a hidden check as a student may see it; `statuses` are those of all checks of its function.

    Code that runs on a hidden input chooses how it fails, and could spell the input in errors, timeouts and blocked
    checks. It can only choose whether it passes, and whether a function none of whose checks passes is started at all.
    """
    failed: Status = "not_started" if set(statuses) == {"not_started"} else "failed"
    status = "passed" if check.status == "passed" else failed
    kept = (check.id, check.function, check.title, status, check.possible, check.earned)
    return CheckResult(*kept, sees_answers=check.sees_answers)


def hidden_document(check: Document, statuses: Collection[str]) -> "types.CheckDocument":
    """Return the same of a check in a result document."""
    points = check["points"]["possible"], check["points"]["earned"]
    stored = CheckResult(check["id"], check["function"], check["title"], check["status"], *points)
    return check_document(_points_only(stored, statuses))


def to_document(result: SubmissionResult, curriculum: Curriculum) -> "types.ResultDocument":
    """Return the JSON document of one submission."""
    assignments: list[types.AssignmentDocument] = []
    checks_of: dict[str, list[CheckResult]] = {}
    for check in result.checks:
        checks_of.setdefault(check.function, []).append(check)
    for assignment in curriculum.assignments:
        functions: list[types.FunctionDocument] = [
            {
                "name": function.name,
                "status": function_status(checks),
                "bonus": function.bonus,
                "points": {"earned": _earned(checks), "possible": sum(check.possible for check in checks)},
                "checks": [check_document(check) for check in checks],
            }
            for function in assignment.functions
            if (checks := checks_of.get(function.qualified))
        ]
        if functions:
            checks = [check for function in assignment.functions for check in checks_of.get(function.qualified, [])]
            assignments.append(
                {
                    "number": assignment.number,
                    "name": assignment.module,
                    "title": assignment.title,
                    "points": {"earned": _earned(checks), "possible": _possible(checks, curriculum)},
                    "functions": functions,
                }
            )
    return {
        "schema": RESULT_SCHEMA,
        "submission": {"id": result.submission, "sha256": result.content_hash},
        "seed": result.seed,
        "public_seed": result.seed == 0,
        "created": now(),
        "versions": versions(),
        "sandbox": result.sandbox,
        "packages": result.packages,
        "official_prerequisites": result.official_prerequisites,
        "points": {"earned": result.earned, "possible": result.possible(curriculum)},
        "passed": result.passed,
        "internal_errors": result.internal_errors,
        "notes": result.notes,
        "files": result.files,
        "seconds": round(result.seconds, 4),
        "used": result.used,
        "assignments": assignments,
    }


def _earned(checks: Iterable[CheckResult]) -> float:
    return sum(check.earned for check in checks)


def _possible(checks: Iterable[CheckResult], curriculum: Curriculum) -> float:
    return sum(check.possible for check in checks if not curriculum.functions[check.function].bonus)


def check_document(check: CheckResult) -> "types.CheckDocument":
    """Return one check as it is in the JSON document."""
    return {
        "id": check.id, "function": check.function, "title": check.title, "status": check.status,
        "points": {"earned": check.earned, "possible": check.possible}, "message": check.message, "help": check.help,
        "inputs": check.inputs, "wrong": check.wrong, "worst": check.worst,
        "shapes": check.shapes, "error_map": check.error_map, "first_wrong_stage": check.first_wrong_stage,
        "mistake": check.mistake, "blocked_by": check.blocked_by, "location": check.location,
        "called_from": check.called_from, "output": check.output, "warnings": check.warnings,
        "failure": check.failure, "file_at_fault": check.file_at_fault, "seconds": round(check.seconds, 5),
    }  # fmt: skip


def withhold(result: SubmissionResult, whole: Level, is_hidden: Callable[[str], bool] = lambda check: False) -> None:
    """Remove from the result, in place, what must not be shown. Points are unchanged.

    The level `whole` is that of every check that is not hidden by its id:

    - full: everything, also expected values and hidden checks; for the instructor
    - summary: what is wrong, for which inputs, where, and the known mistake; no expected value
    - none: points and whether the check passed, as for a hidden check
    """
    if whole == "full":
        return
    hides = (lambda check: True) if whole == "none" else is_hidden
    result.checks = hide(result.checks, hides)
    if any(hides(check.id) for check in result.checks):
        # Hidden checks have a part in these numbers, and can choose them to the byte and the millisecond.
        result.seconds, result.used = math.ceil(result.seconds), None
    for check in result.checks:
        check.worst = None
        if check.error_map is not None:
            check.error_map = check.error_map.copy()
            check.error_map.pop("yours", None)
            check.error_map.pop("expected", None)
        if check.secret is not None:
            secret, replacement = check.secret
            before, found, _ = check.message.partition(secret)
            check.message = before + replacement if found else f"the value{replacement}"

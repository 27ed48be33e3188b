"""The result document `headway.result/1`: plain records of what was found, from which every view is rendered."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from autograder.core.versions import versions
from autograder.curriculum import Curriculum

SCHEMA = "headway.result/1"
Level = Literal["full", "summary", "none"]
Status = Literal["passed", "failed", "error", "timeout", "not_started", "blocked"]
STATUSES: tuple[Status, ...] = ("passed", "failed", "error", "timeout", "not_started", "blocked")


@dataclass
class CheckResult:
    """What one check found out about one submission.

    Attributes:
        id: `module.function::name of the check`.
        wrong: how many values differ, of how many.
        worst: the entry that differs most: index, axes, yours, expected, allowed.
        picture: which elements are wrong (see `picture.py`).
        departure: for functions of several stages, up to where they are right.
        blocked_by: functions that must be right first.
        output: what the student's code printed during the check.
        hints: NumPy's warnings; they never decide a status.
        secret: the part of the message that tells an expected value, and what to say instead; never in a document.
        sees_answers: whether it looks at what the function answers, rather than at its inputs or exceptions only; not
            in a document.
        seconds: wall time of the student's calls; what PyTorch takes for its answer is not in it.
    """

    id: str
    function: str
    title: str
    status: Status
    possible: float
    earned: float = 0.0
    message: str = ""
    help: str | None = None
    case: str | None = None
    wrong: dict[str, int] | None = None
    worst: dict[str, Any] | None = None
    shapes: dict[str, list[int]] | None = None
    picture: dict[str, Any] | None = None
    departure: str | None = None
    mistake: dict[str, Any] | None = None
    blocked_by: list[str] = field(default_factory=list)
    where: dict[str, Any] | None = None
    output: str = ""
    hints: list[str] = field(default_factory=list)
    secret: tuple[str, str] | None = None
    sees_answers: bool = True
    seconds: float = 0.0

    @property
    def was_wrong(self) -> bool:
        """Whether it came to a wrong answer, rather than to nothing: there is something to compare."""
        return self.wrong is not None or self.shapes is not None


@dataclass
class SubmissionResult:
    """Everything that one run found out about one submission."""

    submission: str
    content_hash: str
    seed: int
    checks: list[CheckResult]
    problems: list[str] = field(default_factory=list)  # failures of the kit itself
    notes: list[str] = field(default_factory=list)  # what was left behind when the submission was taken in
    official_prerequisites: bool = False  # each assignment was checked on top of the official earlier ones
    sandbox: list[str] = field(default_factory=lambda: ["process"])
    seconds: float = 0.0

    @property
    def earned(self) -> float:
        """Points earned."""
        return sum(check.earned for check in self.checks)

    def possible(self, curriculum: Curriculum) -> float:
        """Points that count: bonus work is extra."""
        return sum(c.possible for c in self.checks if not curriculum.functions[c.function].bonus)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return bool(self.checks) and all(check.status == "passed" for check in self.checks)


def function_status(checks: Iterable[CheckResult]) -> Status:
    """One status for all checks of a function: the first that is not passed, in order of what to look at first."""
    found = {check.status for check in checks}
    for status in ("error", "timeout", "failed", "blocked", "not_started"):
        if status in found:
            return status
    return "passed"


def to_document(result: SubmissionResult, curriculum: Curriculum) -> dict[str, Any]:
    """The versioned JSON document of one submission (see `schema/result-1.json`)."""
    assignments = []
    for assignment in curriculum.assignments:
        functions = []
        for function in assignment.functions:
            checks = [check for check in result.checks if check.function == function.qualified]
            if checks:
                functions.append(
                    {
                        "name": function.name,
                        "status": function_status(checks),
                        "bonus": function.bonus,
                        "points": _points(checks),
                        "checks": [_check(check) for check in checks],
                    }
                )
        if functions:
            mine = [
                check for check in result.checks if curriculum.functions[check.function].module == assignment.module
            ]
            counted = [check for check in mine if not curriculum.functions[check.function].bonus]
            assignments.append(
                {
                    "number": assignment.number,
                    "name": assignment.module,
                    "title": assignment.title,
                    "points": {"earned": sum(c.earned for c in mine), "possible": sum(c.possible for c in counted)},
                    "functions": functions,
                }
            )
    return {
        "schema": SCHEMA,
        "submission": {"id": result.submission, "sha256": result.content_hash},
        "seed": result.seed,
        "public_seed": result.seed == 0,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "sandbox": result.sandbox,
        "official_prerequisites": result.official_prerequisites,
        "points": {"earned": result.earned, "possible": result.possible(curriculum)},
        "passed": result.passed,
        "problems": result.problems,
        "notes": result.notes,
        "seconds": round(result.seconds, 4),
        "assignments": assignments,
    }


def _points(checks: list[CheckResult]) -> dict[str, float]:
    return {"earned": sum(c.earned for c in checks), "possible": sum(c.possible for c in checks)}


def _check(check: CheckResult) -> dict[str, Any]:
    record = asdict(check)
    del record["secret"], record["sees_answers"]
    record["points"] = {"earned": record.pop("earned"), "possible": record.pop("possible")}
    record["seconds"] = round(check.seconds, 5)
    return record


def withhold(result: SubmissionResult, whole: Level, is_hidden: Callable[[str], bool] = lambda check: False) -> None:
    """Remove from the result what must not be shown. Points and statuses are unchanged.

    - full: everything, expected values too; for the instructor
    - summary: what is wrong, for which inputs, where, and the named mistake; no expected value
    - none: status and points

    Args:
        whole: the level for all checks that are not hidden.
        is_hidden: whether of a check, by its id, only status and points are told.
    """
    for check in result.checks:
        level = "none" if is_hidden(check.id) and whole != "full" else whole
        if level == "full":
            continue
        check.worst = None
        if check.picture is not None:
            check.picture = {key: value for key, value in check.picture.items() if key not in ("yours", "expected")}
        if check.secret is not None:
            told, instead = check.secret
            before, found, _ = check.message.partition(told)
            check.message = before + instead if found else f"the value{instead}"
        if level == "none":
            check.message, check.help, check.case, check.where, check.output = "", None, None, None, ""
            check.wrong, check.shapes, check.picture, check.departure = None, None, None, None
            check.mistake, check.hints = None, []

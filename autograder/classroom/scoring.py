"""Compute a student's score: apply the policy to the points that a submission earned."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from autograder.classroom.policy import AssignmentPolicy, LatePolicy, Policy, PolicyException
from autograder.classroom.student_exceptions import describe_exception, effective_exception
from autograder.classroom.submissions.model import Attempt

DAY = timedelta(days=1)


@dataclass(frozen=True)
class GradedAssignment:
    """One assignment, with what the policy says about it."""

    name: str
    title: str
    check_points: float  # without bonus
    possible: float  # points for a perfect submission
    weight: float  # in the student's score
    due: datetime | None = None


@dataclass(frozen=True)
class AssignmentScore:
    """What a student got for one assignment, in points of the policy."""

    earned: float  # before late penalty and exceptions
    possible: float
    score: float  # after late penalty and exceptions
    late_days: int = 0  # days begun after the due date and the grace hours
    penalty: float = 0.0  # points lost by being late
    excused: bool = False  # whether the assignment does not count for this student
    by_hand: bool = False  # whether an instructor gave the score
    exception: str = ""  # the exceptions for this student in words

    @property
    def share(self) -> float:
        """Score divided by possible points."""
        return self.score / self.possible if self.possible else 0.0


@dataclass(frozen=True)
class StudentScore:
    """A student's score: `score` out of `out_of`, the sum of the weights of the assignments that count."""

    assignments: dict[str, AssignmentScore]
    dropped: tuple[str, ...]
    score: float
    out_of: float

    @property
    def earned(self) -> float:
        """Points before late penalty and exceptions."""
        return sum(assignment.earned for assignment in self.assignments.values())

    @property
    def possible(self) -> float:
        """Points that can be earned."""
        return sum(assignment.possible for assignment in self.assignments.values())

    @property
    def penalty(self) -> float:
        """Points lost by being late."""
        return sum(assignment.penalty for assignment in self.assignments.values())

    @property
    def late_days(self) -> int:
        """Days late of the latest assignment."""
        return max((assignment.late_days for assignment in self.assignments.values()), default=0)


def graded_assignments(policy: Policy, check_points: Mapping[str, tuple[str, float]]) -> list[GradedAssignment]:
    """Return the assignments in `check_points` (name: title, points of its checks) as the policy rates them."""
    assignments = []
    for name, (title, points_of_checks) in check_points.items():
        rules = policy.assignments.get(name, AssignmentPolicy())
        possible = points_of_checks if rules.points is None else rules.points
        weight = possible if rules.weight is None else rules.weight
        assignments.append(GradedAssignment(name, title, points_of_checks, possible, weight, rules.due))
    return assignments


def student_score(
    assignments: list[GradedAssignment],
    earned: Mapping[str, float],
    policy: Policy,
    attempt: Attempt | None = None,
    exceptions: Iterable[PolicyException] = (),
) -> StudentScore:
    """Apply the policy to the points earned by assignment: scale, late penalty, exceptions, drop the lowest, weight."""
    scores: dict[str, AssignmentScore] = {}
    for assignment in assignments:
        name, exception = assignment.name, effective_exception(exceptions, assignment.name)
        scores[name] = _assignment_score(assignment, earned.get(name, 0.0), policy.late, attempt, exception)
    required = [assignment for assignment in assignments if not scores[assignment.name].excused]
    # The lowest shares are dropped, the smaller weight first where shares are equal; one assignment always counts.
    lowest_first = sorted(required, key=lambda assignment: (scores[assignment.name].share, assignment.weight))
    dropped = {assignment.name for assignment in lowest_first[: max(0, min(policy.drop_lowest, len(required) - 1))]}
    counting = [assignment for assignment in required if assignment.name not in dropped]
    return StudentScore(
        scores,
        tuple(assignment.name for assignment in assignments if assignment.name in dropped),
        sum(assignment.weight * scores[assignment.name].share for assignment in counting),
        sum(assignment.weight for assignment in counting),
    )


def _assignment_score(
    assignment: GradedAssignment,
    check_points: float,
    late: LatePolicy,
    attempt: Attempt | None,
    exception: PolicyException | None,
) -> AssignmentScore:
    possible = assignment.possible
    days = _late_days(assignment, late, attempt, exception)
    earned = check_points * possible / assignment.check_points if assignment.check_points else 0.0
    lost_share = min(late.cap, late.penalty_per_day * days)
    score = max(0.0, earned - lost_share * (earned if late.of == "earned" else possible))
    by_checks = AssignmentScore(earned, possible, score, days, earned - score)
    if exception is None:
        return by_checks
    text = describe_exception(exception, earned, possible)
    if exception.excused or exception.score is not None:
        given, excused = score if exception.score is None else exception.score, exception.excused
        return AssignmentScore(earned, possible, given, excused=excused, by_hand=not excused, exception=text)
    return replace(by_checks, score=max(0.0, score + exception.bonus), exception=text)


def _late_days(
    assignment: GradedAssignment, late: LatePolicy, attempt: Attempt | None, exception: PolicyException | None
) -> int:
    if attempt is None:
        return 0
    if exception and exception.late_days is not None:
        return exception.late_days
    extended_due = exception.due if exception else None
    submitted, due = attempt.submitted_at(assignment.name), extended_due or assignment.due
    if submitted is not None and due is not None:
        return max(0, math.ceil((submitted - due - timedelta(hours=late.grace_hours)) / DAY))
    # The platform's mark refers to the due date for all, so it does not apply to a student with an extension.
    return late.marked_days if attempt.late and extended_due is None else 0

"""From points to a grade: the policy of the course applied to what one submission earned."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from autograder.classroom import student_exceptions
from autograder.classroom.policy import AssignmentPolicy, LatePolicy, Policy
from autograder.classroom.student_exceptions import PolicyException
from autograder.classroom.submissions.model import Attempt

DAY = timedelta(days=1)


@dataclass(frozen=True)
class GradedAssignment:
    """One assignment of the course in the policy's terms.

    Attributes:
        checks: points of its checks, without bonus.
        possible: what it is worth in full.
        weight: its share of the total.
    """

    name: str
    title: str
    checks: float
    possible: float
    weight: float
    due: datetime | None = None


@dataclass(frozen=True)
class AssignmentScore:
    """What one assignment brings.

    Attributes:
        earned: points before the policy, in the policy's scale.
        score: points after it.
        late_days: days begun after the due date and its grace.
        penalty: points lost by being late.
        excused: whether it does not count.
        by_hand: whether an instructor gave the score.
        ruling: what was ruled for this student, in words; empty if nothing was.
    """

    earned: float
    possible: float
    score: float
    late_days: int = 0
    penalty: float = 0.0
    excused: bool = False
    by_hand: bool = False
    ruling: str = ""

    @property
    def share(self) -> float:
        """Score by possible."""
        return self.score / self.possible if self.possible else 0.0


@dataclass(frozen=True)
class StudentScore:
    """What a submission brings: `score` out of `out_of`, the weights of the assignments that count."""

    assignments: dict[str, AssignmentScore]
    dropped: tuple[str, ...]
    score: float
    out_of: float

    @property
    def earned(self) -> float:
        """Points before the policy."""
        return sum(grade.earned for grade in self.assignments.values())

    @property
    def possible(self) -> float:
        """Points that can be earned."""
        return sum(grade.possible for grade in self.assignments.values())

    @property
    def penalty(self) -> float:
        """Points lost by being late."""
        return sum(grade.penalty for grade in self.assignments.values())

    @property
    def late_days(self) -> int:
        """Of the assignment that was latest."""
        return max((grade.late_days for grade in self.assignments.values()), default=0)


def graded_assignments(policy: Policy, possible: Mapping[str, tuple[str, float]]) -> list[GradedAssignment]:
    """The assignments that are graded; `possible` gives title and points of the checks by name."""
    found = []
    for name, (title, checks) in possible.items():
        said = policy.assignments.get(name, AssignmentPolicy())
        points = checks if said.points is None else said.points
        found.append(
            GradedAssignment(name, title, checks, points, points if said.weight is None else said.weight, said.due)
        )
    return found


def student_score(
    course: list[GradedAssignment],
    earned: Mapping[str, float],
    policy: Policy,
    attempt: Attempt | None = None,
    ruled: Iterable[PolicyException] = (),
) -> StudentScore:
    """Apply the policy: scale, late penalty, exceptions, drop the lowest, weigh.

    Args:
        earned: points of the checks by assignment; one that is not there brings nothing.
        attempt: when it was handed in; None if nothing was.
        ruled: the exceptions for this student.
    """
    grades = {
        one.name: _grade(
            one,
            earned.get(one.name, 0.0),
            policy.late,
            attempt,
            student_exceptions.effective_exception(ruled, one.name),
        )
        for one in course
    }
    asked = [one for one in course if not grades[one.name].excused]
    # The lowest by share, the lighter first where shares are equal; one always counts.
    in_order = sorted(asked, key=lambda one: (grades[one.name].share, one.weight))
    dropped = {one.name for one in in_order[: max(0, min(policy.drop_lowest, len(asked) - 1))]}
    counted = [one for one in asked if one.name not in dropped]
    return StudentScore(
        grades,
        tuple(one.name for one in course if one.name in dropped),
        sum(one.weight * grades[one.name].share for one in counted),
        sum(one.weight for one in counted),
    )


def _grade(
    one: GradedAssignment, earned: float, late: LatePolicy, attempt: Attempt | None, ruling: PolicyException | None
) -> AssignmentScore:
    days = _late_days(one, late, attempt, ruling)
    scaled = earned * one.possible / one.checks if one.checks else 0.0
    share = min(late.cap, late.penalty_per_day * days)
    lost = share * (scaled if late.of == "earned" else one.possible)
    score = max(0.0, scaled - lost)
    grade = AssignmentScore(scaled, one.possible, score, days, scaled - score)
    if ruling is None:
        return grade
    told = ruling.told(scaled, one.possible)
    if ruling.excused or ruling.score is not None:
        given = grade.score if ruling.score is None else ruling.score
        return AssignmentScore(
            scaled, one.possible, given, excused=ruling.excused, by_hand=not ruling.excused, ruling=told
        )
    return replace(grade, score=max(0.0, score + ruling.bonus), ruling=told)


def _late_days(one: GradedAssignment, late: LatePolicy, attempt: Attempt | None, ruling: PolicyException | None) -> int:
    if attempt is None:
        return 0
    if ruling and ruling.late_days is not None:
        return ruling.late_days
    extended = ruling.due if ruling else None
    when, due = attempt.submitted_at(one.name), extended or one.due
    if due is not None and when is not None:
        return max(0, math.ceil((when - due - timedelta(hours=late.grace_hours)) / DAY))
    # The platform's mark is about the date for all: who has another one is taken to have kept it.
    return late.marked_days if attempt.late and extended is None else 0

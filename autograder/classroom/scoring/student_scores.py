"""Compute a student's score: apply the policy to the points that a student's functions earned.

The rules, each with an example, are in docs/instructors.md.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from msgspec.structs import asdict

from autograder.classroom.policy.model import AssignmentPolicy, LatePolicy, Policy, PolicyException, RubricItem
from autograder.classroom.scoring.best_choice import Candidate, best_choice
from autograder.core.text import clean, counted
from autograder.course import Curriculum
from autograder.documents.statuses import Counts
from autograder.documents.types import AdjustmentRecord, StudentComment


def adjustment(
    text: str, add: float = 0.0, score: float | None = None, by: str = "", time: str = ""
) -> AdjustmentRecord:
    """Return one change of an assignment's score by an instructor, with a text that is safe to show."""
    return {"text": clean(text, 2000), "add": add, "score": score, "by": by, "time": time}


@dataclass(frozen=True)
class RubricPoints:
    """The points given for one rubric item, and the comment on it."""

    points: float
    comment: str = ""


@dataclass
class ManualPoints:
    """The points that instructors gave one student by hand for one assignment."""

    rubric: dict[str, RubricPoints] = field(default_factory=dict)  # by the item's id
    adjustments: list[AdjustmentRecord] = field(default_factory=list)  # in the order in which they apply


@dataclass
class StudentDecisions:
    """What instructors have decided about one student with `headway comment` and `headway choose`."""

    manual: dict[str, ManualPoints] = field(default_factory=dict)  # by assignment
    comments: list[StudentComment] = field(default_factory=list)  # without the reasons for points
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # assignment, question, id of the record
    settled: set[str] = field(default_factory=set)  # the ids of open questions that need no more attention
    chosen: dict[str, str] = field(default_factory=dict)  # the file that counts, by assignment


DAY = timedelta(days=1)


@dataclass(frozen=True)
class GradedAssignment:
    """One assignment, with what the policy says about it."""

    name: str
    title: str
    functions: Mapping[str, tuple[float, float]]  # points of the checks, and what they are worth, by qualified name
    bonus: Collection[str]  # the functions whose points are not among the possible points
    possible: float  # points for a perfect submission without bonus, those of the rubric included
    weight: float  # in the student's score
    due: datetime | None = None
    rubric: tuple[RubricItem, ...] = ()


@dataclass(frozen=True)
class AssignmentWork:
    """The work of a student for one assignment."""

    functions: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # points earned and possible, by name
    submitted_at: datetime | None = None
    late: bool | None = None  # whether the platform marks it as late; None: it has no such mark
    submitted: bool = True


@dataclass(frozen=True)
class AssignmentScore:
    """What a student got for one assignment, in points of the policy."""

    earned: float  # before late penalty and adjustments, bonus and rubric included
    possible: float
    score: float  # the final one
    bonus: float = 0.0  # the part of `earned` that bonus functions gave
    late_days: int = 0  # days begun after the due date and the grace hours
    bank_days: int = 0  # how many of them the bank pays for
    penalty: float = 0.0  # points lost by being late
    excused: bool = False  # whether the assignment does not count for this student
    by_hand: bool = False  # whether an instructor gave the score
    replaced_by: str = ""  # the assignment whose share it has instead of its own
    exception: str = ""  # the exceptions for this student in words
    adjustments: tuple[AdjustmentRecord, ...] = ()  # applied one after another, after the late penalty
    rubric: Mapping[str, RubricPoints] = field(default_factory=dict)  # what counts of what was given, by item id

    @property
    def share(self) -> float:
        """Score divided by possible points."""
        return self.score / self.possible if self.possible else 0.0


@dataclass(frozen=True)
class StudentScore:
    """A student's score: `score` out of `out_of`, the sum of the weights of the assignments that count."""

    assignments: dict[str, AssignmentScore]
    counts: dict[str, Counts]  # by assignment
    score: float
    out_of: float
    earned: float  # points in all assignments before late penalty and exceptions
    possible: float  # points that can be earned
    penalty: float  # points lost by being late
    late_days: int  # of the latest assignment

    @property
    def percent(self) -> float | None:
        """The score as a percentage of what counts for this student, or None if nothing counts."""
        return 100.0 * self.score / self.out_of if self.out_of else None

    @property
    def dropped(self) -> tuple[str, ...]:
        """The assignments that are dropped for this student."""
        return tuple(name for name, counts in self.counts.items() if counts == "dropped")


def graded_assignments(
    policy: Policy, curriculum: Curriculum, names: Iterable[str], check_points: Mapping[str, float]
) -> list[GradedAssignment]:
    """Return the named assignments as the policy rates them; `check_points` are those of each function's checks."""
    found = []
    for name in names:
        module, rules = curriculum.modules[name], policy.assignments.get(name, AssignmentPolicy())
        checked = [one for one in module.functions if check_points.get(one.qualified)]
        of_checks = {one.name: check_points[one.qualified] for one in checked}
        worth = rules.worth(of_checks, {one.name for one in checked if one.bonus})
        functions = {one.qualified: (of_checks[one.name], worth[one.name]) for one in checked}
        bonus = [one.qualified for one in checked if one.bonus]
        code = sum(worth[one.name] for one in checked if not one.bonus) if rules.points is None else rules.points
        possible = code + sum(item.points for item in rules.rubric)
        weight = possible if rules.weight is None else rules.weight
        found.append(GradedAssignment(name, module.title, functions, bonus, possible, weight, rules.due, rules.rubric))
    return found


def student_score(
    assignments: Sequence[GradedAssignment],
    work: Mapping[str, AssignmentWork],
    policy: Policy,
    exceptions: Iterable[PolicyException] = (),
    manual: Mapping[str, ManualPoints] | None = None,
) -> StudentScore:
    """Apply the policy to a student's work by assignment: points, late penalty, exceptions, drops, weights.

    `manual` holds what instructors gave by hand, by assignment.
    """
    exceptions, manual = list(exceptions), manual or {}
    bank, options = policy.late.bank, dict[str, dict[int, AssignmentScore]]()
    for assignment in assignments:
        name, done = assignment.name, work.get(assignment.name, AssignmentWork(submitted=False))
        exception, by_hand = effective_exception(exceptions, name), manual.get(name, ManualPoints())
        score_with = partial(_assignment_score, assignment, done, policy, exception, by_hand)
        options[name] = _options(score_with, min(bank, policy.late.bank_each), exception.bank_days)
        bank -= min(options[name])  # days that the student chose; of too many, those of later assignments are left out
    scores = {name: by_days[min(by_days)] for name, by_days in options.items()}
    # An assignment without points or weight is not dropped, because that would not help the student.
    required = [one for one in assignments if one.weight and one.possible and not scores[one.name].excused]
    counts: dict[str, Counts] = {name: "excused" if score.excused else "not counted" for name, score in scores.items()}
    counts.update({assignment.name: "dropped" for assignment in required})
    if required:
        names = [one.name for one in required]
        candidates = [
            Candidate(one.weight, {days: score.share for days, score in options[one.name].items()}) for one in required
        ]
        final = policy.replace_lowest_by
        choice = best_choice(
            candidates, policy.drop_lowest, policy.late.bank, names.index(final) if final in names else None
        )
        scores |= {names[at]: options[names[at]][days] for at, days in choice.bank_days.items()}
        if choice.replaced is not None:
            lowest = scores[names[choice.replaced]]
            points = scores[final].share * lowest.possible
            scores[names[choice.replaced]] = replace(lowest, score=points, replaced_by=final)
        counts.update({names[at]: "counts" for at in choice.bank_days})
    counting = [one for one in required if counts[one.name] == "counts"]
    total = sum(assignment.weight * scores[assignment.name].share for assignment in counting)
    every = scores.values()
    return StudentScore(
        scores, counts, total, sum(assignment.weight for assignment in counting),
        sum(one.earned for one in every), sum(one.possible for one in every), sum(one.penalty for one in every),
        max((one.late_days for one in every), default=0),
    )  # fmt: skip


def _options(score_with: Callable[[int], AssignmentScore], bank: int, chosen: int | None) -> dict[int, AssignmentScore]:
    """Return the score by the days that the bank pays for, as far as they change it, or for those that were chosen."""
    scores = [score_with(0)]
    most = min(bank, scores[0].late_days, bank if chosen is None else chosen)
    while len(scores) <= most and scores[-1].penalty:
        scores.append(score_with(len(scores)))
    return dict(enumerate(scores)) if chosen is None else {len(scores) - 1: scores[-1]}


def _assignment_score(
    assignment: GradedAssignment,
    work: AssignmentWork,
    policy: Policy,
    exception: PolicyException,
    manual: ManualPoints,
    bank_days: int,
) -> AssignmentScore:
    late, possible = policy.late, assignment.possible
    # The division comes last: all points of the checks give exactly what they are worth.
    points = {
        name: work.functions.get(name, (0.0, 0.0))[0] * worth / of_checks
        for name, (of_checks, worth) in assignment.functions.items()
    }
    required = sum(earned for name, earned in points.items() if name not in assignment.bonus)
    bonus = sum(points[name] for name in assignment.bonus) if policy.bonus != "off" else 0.0
    rubric = {
        item.id: replace(given, points=min(given.points, item.points))
        for item in assignment.rubric
        if (given := manual.rubric.get(item.id)) is not None
    }
    earned = required + bonus + sum(given.points for given in rubric.values())
    adjustments = list(manual.adjustments)
    if exception.score is not None or exception.bonus:  # A score by hand replaces added points.
        add = exception.bonus if exception.score is None else 0.0
        adjustments.insert(0, adjustment(exception.reason, add, exception.score))
    by_hand = any(change["score"] is not None for change in adjustments)
    days = 0 if exception.excused else _late_days(assignment, late, work, exception)
    lost_share = min(late.cap, late.penalty_per_day * (days - bank_days))
    penalty = 0.0 if by_hand else min(earned, lost_share * (earned if late.of == "earned" else possible))
    score = earned - penalty
    for change in adjustments:
        score = score + change["add"] if change["score"] is None else change["score"]
    # The limit comes last: bonus points first make up for those that were lost, by being late for example.
    score = max(0.0, score if policy.bonus == "extra" else min(score, possible))
    return AssignmentScore(
        earned, possible, score, bonus, days, bank_days, penalty, exception.excused,
        by_hand and not exception.excused, exception=_describe_exception(exception, earned, possible),
        adjustments=tuple(adjustments), rubric=rubric,
    )  # fmt: skip


def _describe_exception(exception: PolicyException, earned: float, possible: float) -> str:
    """Return the text that the student sees about the exception in force for one assignment; empty if there is none."""
    if exception.excused:
        parts = ["excused, does not count"]
    elif exception.score is not None:
        parts = [f"{exception.score:.4g} of {possible:g} points given by hand, instead of {earned:.4g} from the checks"]
    else:
        parts = [f"due {exception.due.isoformat(' ', 'minutes')}"] if exception.due else []
        parts += [] if exception.late_days is None else [f"{counted(exception.late_days, 'day')} late"]
        points = f"{abs(exception.bonus):.4g} {'point' if abs(exception.bonus) == 1 else 'points'}"
        parts += [f"{points} {'added' if exception.bonus > 0 else 'deducted'}"] if exception.bonus else []
    return ", ".join(parts) + (f" ({exception.reason})" if exception.reason else "")


def effective_exception(entries: Iterable[PolicyException], assignment: str) -> PolicyException:
    """Merge the entries for one assignment; those that name it win over those for all, later ones over earlier ones."""
    merged = unchanged = PolicyException()
    for entry in sorted(entries, key=lambda entry: bool(entry.assignment)):
        if entry.assignment in ("", assignment):
            changes = {key: value for key, value in asdict(entry).items() if value != getattr(unchanged, key)}
            reasons = dict.fromkeys(filter(None, (merged.reason, entry.reason)))
            merged = PolicyException(**{**asdict(merged), **changes, "reason": "; ".join(reasons)})
    return merged


def _late_days(assignment: GradedAssignment, late: LatePolicy, work: AssignmentWork, exception: PolicyException) -> int:
    if not work.submitted:
        return 0
    if exception.late_days is not None:
        return exception.late_days
    submitted, due = work.submitted_at, exception.due or assignment.due
    if submitted is not None and due is not None:
        return max(0, math.ceil((submitted - due - timedelta(hours=late.grace_hours)) / DAY))
    # The platform's mark refers to the due date for all, so it does not apply to a student with an extension.
    return late.marked_days if work.late and exception.due is None else 0

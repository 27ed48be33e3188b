"""What an instructor has ruled for one student: `[[exceptions]]` of `course.toml`.

It stands in the policy, not in the results, so that it survives every further run, and nothing is graded again for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from autograder.classroom.submissions.model import ClassMember
from autograder.classroom.submissions.roster import StudentNames
from autograder.core.text import counted


@dataclass(frozen=True)
class PolicyException:
    """One exception.

    Attributes:
        student: by any name that `headway grade --only` takes.
        assignment: which; empty: every one.
        due: instead of the date for all.
        late_days: so many days late, whatever date and platform say: where nobody knows when it was handed in.
        bonus: points on top of what the checks gave and lateness left; below 0 they are taken off.
        score: points given by hand; checks, lateness and bonus count no more.
        excused: whether the assignment does not count for this student.
        reason: why; the student is told.
    """

    student: str = ""
    assignment: str = ""
    due: datetime | None = None
    late_days: int | None = None
    bonus: float = 0.0
    score: float | None = None
    excused: bool = False
    reason: str = ""

    @property
    def says_something(self) -> bool:
        """Whether it changes anything."""
        given = (self.due, self.late_days, self.score)
        return self.excused or bool(self.bonus) or any(one is not None for one in given)

    def told(self, earned: float, possible: float) -> str:
        """What the student is told.

        Args:
            earned: points that the checks gave, in the scale of the policy.
        """
        if self.excused:
            parts = ["excused, does not count"]
        elif self.score is not None:
            parts = [f"{self.score:.4g} of {possible:g} points given by hand, instead of {earned:.4g} from the checks"]
        else:
            parts = [f"due {self.due.isoformat(' ', 'minutes')}"] if self.due else []
            parts += [] if self.late_days is None else [f"{counted(self.late_days, 'day')} late"]
            points = f"{abs(self.bonus):.4g} {'point' if abs(self.bonus) == 1 else 'points'}"
            parts += [f"{points} {'on top' if self.bonus > 0 else 'off'}"] if self.bonus else []
        return ", ".join(parts) + (f" ({self.reason})" if self.reason else "")


def effective_exception(rulings: Iterable[PolicyException], assignment: str) -> PolicyException | None:
    """What holds for one assignment: what is said of it goes before what is said of all, and the later before that."""
    found: PolicyException | None = None
    for one in sorted(rulings, key=lambda one: bool(one.assignment)):
        if one.assignment in ("", assignment):
            said = {key: value for key, value in vars(one).items() if value != getattr(PolicyException, key)}
            before = found or PolicyException()
            reasons = dict.fromkeys(reason for reason in (before.reason, one.reason) if reason)
            found = replace(before, **{**said, "reason": "; ".join(reasons)})
    return found


def exceptions_by_submission(
    rulings: Sequence[PolicyException], students: Sequence[ClassMember]
) -> tuple[dict[str, list[PolicyException]], list[str]]:
    """Whom the exceptions concern, and for each that concerns nobody a sentence.

    Raises:
        UsageError: for a name that several have.
    """
    names = StudentNames(students)
    found: dict[str, list[PolicyException]] = {}
    lost = {}
    for one in rulings:
        whose = names.find(one.student, "student = …")
        if whose is None:
            lost[one.student] = f"An exception of course.toml is for nobody: {names.unknown(one.student)}"
        else:
            found.setdefault(whose, []).append(one)
    return found, list(lost.values())

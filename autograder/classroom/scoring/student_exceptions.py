"""Apply the `[[exceptions]]` of `course.toml`: what an instructor has decided for one student.

They are part of the policy, not of the results: changing one grades nothing again.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import asdict, replace

from autograder.classroom.policy.model import PolicyException
from autograder.classroom.submissions.model import Student
from autograder.classroom.submissions.student_names import StudentNames
from autograder.core.text import counted

_NO_EXCEPTION = PolicyException()


def describe_exception(entry: PolicyException, earned: float, possible: float) -> str:
    """Return the text that the student sees about the entry in force for one assignment."""
    if entry.excused:
        parts = ["excused, does not count"]
    elif entry.score is not None:
        parts = [f"{entry.score:.4g} of {possible:g} points given by hand, instead of {earned:.4g} from the checks"]
    else:
        parts = [f"due {entry.due.isoformat(' ', 'minutes')}"] if entry.due else []
        parts += [] if entry.late_days is None else [f"{counted(entry.late_days, 'day')} late"]
        points = f"{abs(entry.bonus):.4g} {'point' if abs(entry.bonus) == 1 else 'points'}"
        parts += [f"{points} {'added' if entry.bonus > 0 else 'deducted'}"] if entry.bonus else []
    return ", ".join(parts) + (f" ({entry.reason})" if entry.reason else "")


def effective_exception(entries: Iterable[PolicyException], assignment: str) -> PolicyException | None:
    """Merge the entries for one assignment; those that name it win over those for all, later ones over earlier ones."""
    merged: PolicyException | None = None
    for entry in sorted(entries, key=lambda entry: bool(entry.assignment)):
        if entry.assignment in ("", assignment):
            changes = {key: value for key, value in asdict(entry).items() if value != getattr(_NO_EXCEPTION, key)}
            before = merged or _NO_EXCEPTION
            reasons = dict.fromkeys(reason for reason in (before.reason, entry.reason) if reason)
            merged = replace(before, **{**changes, "reason": "; ".join(reasons)})
    return merged


def exceptions_by_submission(
    entries: Sequence[PolicyException], members: Sequence[Student]
) -> tuple[dict[str, list[PolicyException]], list[str]]:
    """Return the entries by submission, and warnings of unknown students; raise UsageError for ambiguous names."""
    names = StudentNames(members)
    by_submission: dict[str, list[PolicyException]] = {}
    warnings = {}
    for entry in entries:
        submission = names.find(entry.student, "student = …")
        if submission is None:
            problem = f"an entry of [[exceptions]] has no effect: {names.unknown(entry.student)}"
            warnings[entry.student] = f"{problem} Correct or delete it in course.toml"
        else:
            by_submission.setdefault(submission, []).append(entry)
    return by_submission, list(warnings.values())

"""The results of a class as plain records, which `class_statistics` fills and the terminal and the class page show."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Final, Literal

from autograder.documents.results import STATUSES

# The class page has one letter per student and function.
LETTERS: dict[str, str] = dict(zip(STATUSES, "pfetnb", strict=True))
STATES = {"excused": "x", "missing": "m", "unreadable": "u", "waiting": "w", "failed": "i"}  # of whole assignments
HISTOGRAM_BINS = 20
KEY_SCORES: dict[str, Callable[[list[float]], float]] = {"median": median, "mean": mean, "lowest": min, "highest": max}
GROUPS: Final[dict[str, Literal["section", "ta"]]] = {"section": "section", "teaching assistant": "ta"}


def histogram(shares: Iterable[float]) -> list[int]:
    """Return the number of shares in each of the equal bins from 0 to 1; larger ones count as 1."""
    counts = [0] * HISTOGRAM_BINS
    for share in shares:
        counts[min(HISTOGRAM_BINS - 1, max(0, int(share * HISTOGRAM_BINS)))] += 1
    return counts


@dataclass
class CheckRecord:
    """The results of one check."""

    id: str
    function: str
    title: str
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def pass_rate(self) -> float:
        """Share of all submissions that pass it, from 0 to 1."""
        return self.statuses["passed"] / (self.statuses.total() or 1)


@dataclass
class MistakeRecord:
    """The students who made one known mistake, by their numbers."""

    id: str
    title: str
    function: str
    hint: str
    students: list[int] = field(default_factory=list)


@dataclass
class StudentRecord:
    """The results of one student."""

    name: str
    id: str
    submission: str
    status: str
    reason: str
    score: float
    out_of: float
    late_days: int
    has_result: bool
    email: str = ""
    section: str = ""
    ta: str = ""
    shares: dict[str, float] = field(default_factory=dict)  # of the points of each graded assignment that counts
    notes: list[str] = field(default_factory=list)  # student exceptions, and remarks for the instructor
    statuses: dict[str, str] = field(default_factory=dict)  # of each function that was graded
    mistakes: list[int] = field(default_factory=list)  # numbers of the mistakes made
    states: dict[str, str] = field(default_factory=dict)  # of each assignment without a result that counts
    page: str | None = None  # the address of the page for the instructor, relative to the class page
    feedback: str | None = None  # the address of the page for the student

    @property
    def share(self) -> float:
        """Score divided by the highest possible score; 0 if there is none."""
        return self.score / self.out_of if self.out_of else 0.0


@dataclass(frozen=True)
class AssignmentSummary:
    """The scores of the class in one assignment."""

    name: str
    shares: list[float]  # of the students whose submission was graded

    @property
    def median(self) -> float | None:
        """The median share of its points."""
        return median(self.shares) if self.shares else None

    @property
    def mean(self) -> float | None:
        """The mean share of its points."""
        return mean(self.shares) if self.shares else None


@dataclass(frozen=True)
class FunctionStatistics:
    """The results of one function."""

    mean_share: float  # of its points
    discrimination: float | None  # None: too few students, or all the same


@dataclass(frozen=True)
class GroupSummary:
    """The students of one section or teaching assistant."""

    name: str
    students: int
    submitted: int
    median: float | None
    by_assignment: list[float | None]  # medians, in the order of the class's assignments
    mistake: str  # the most common one


@dataclass(frozen=True)
class StudentChange:
    """The score of a student in an earlier run, and now, as shares."""

    student: int
    before: float
    after: float


@dataclass(frozen=True)
class AssignmentChange:
    """The median share in an assignment, earlier and now; None if there was no score."""

    name: str
    before: float | None
    after: float | None


@dataclass(frozen=True)
class ClassComparison:
    """The differences from an earlier run."""

    name: str
    assignments: list[AssignmentChange]
    changes: list[StudentChange]  # whose score differs, the largest gain first
    students: int  # that are in both
    pass_rates: dict[str, float]  # earlier, by function


@dataclass(frozen=True)
class SimilarPair:
    """Two submissions that are alike."""

    first: str
    second: str
    share: float  # the fraction of the smaller submission's rare fingerprints that both have
    shared: int  # the number of those fingerprints
    modules: str  # the modules in which they are alike, the most alike first, each with its share
    submissions: tuple[str, str] = ("", "")
    names: tuple[str, ...] = ()  # the same modules
    page: str = ""  # the address of the page that shows both side by side, relative to the class page


@dataclass
class SimilarityResult:
    """The pairs of submissions that are alike, and what could not be compared."""

    pairs: list[SimilarPair] = field(default_factory=list)  # most alike first
    unread: list[tuple[str, str]] = field(default_factory=list)  # submission, why it was not compared in full


@dataclass
class ClassRecords:
    """The results of a class."""

    title: str
    assignments: list[AssignmentSummary] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)  # qualified names in course order
    statistics: dict[str, FunctionStatistics] = field(default_factory=dict)  # by function
    students: list[StudentRecord] = field(default_factory=list)
    checks: dict[str, CheckRecord] = field(default_factory=dict)  # by id, in course order
    mistakes: list[MistakeRecord] = field(default_factory=list)  # most common first
    # (seconds, student, function, check), slowest first, without checks that timed out or did not run.
    slowest: list[tuple[float, int, str, str]] = field(default_factory=list)
    timeouts: list[tuple[int, str, str]] = field(default_factory=list)  # (student, function, check) of the first ones
    timed_out: int = 0  # number of checks that timed out
    seed: int = 0
    reused_comments: Counter[str] = field(default_factory=Counter)  # by the name in course.toml

    @property
    def graded(self) -> list[StudentRecord]:
        """Students with a result."""
        return [student for student in self.students if student.status == "graded"]

    @property
    def scored(self) -> list[StudentRecord]:
        """Graded students with a score: without those who are excused from everything."""
        return [student for student in self.graded if student.out_of]

    @property
    def not_graded(self) -> list[StudentRecord]:
        """Students whose submission could not be graded."""
        return [student for student in self.students if student.status not in ("graded", "missing")]

    @property
    def missing(self) -> list[StudentRecord]:
        """Students without a submission."""
        return [student for student in self.students if student.status == "missing"]

    @property
    def shares(self) -> list[float]:
        """The scores of the scored students, as shares."""
        return [student.share for student in self.scored]

    @property
    def key_scores(self) -> dict[str, float]:
        """The median, mean, lowest and highest score, as shares; nothing if there are no scores."""
        return {name: of(self.shares) for name, of in KEY_SCORES.items()} if self.scored else {}

    def pass_rate(self, function: str) -> float:
        """Return the share of the graded students who pass a function."""
        counts = self.status_counts(function)
        return counts["passed"] / (counts.total() or 1)

    def groups(self, kind: Literal["section", "ta"]) -> list[GroupSummary]:
        """Return a summary of each section or teaching assistant, by name; nothing if there are fewer than two."""
        members: dict[str, list[StudentRecord]] = {}
        for student in self.students:
            members.setdefault(getattr(student, kind), []).append(student)
        if len(members) < 2:
            return []
        return [self._group(name, members[name]) for name in sorted(members, key=lambda name: (not name, name))]

    def _group(self, name: str, students: list[StudentRecord]) -> GroupSummary:
        scored = [student.share for student in students if student.status == "graded" and student.out_of]
        medians = []
        for assignment in self.assignments:
            shares = [student.shares[assignment.name] for student in students if assignment.name in student.shares]
            medians.append(median(shares) if shares else None)
        mistakes = Counter(number for student in students for number in student.mistakes)
        most_common = mistakes.most_common(1)
        mistake = f"{self.mistakes[most_common[0][0]].title} ({most_common[0][1]})" if most_common else ""
        submitted = sum(student.status != "missing" for student in students)
        return GroupSummary(name, len(students), submitted, median(scored) if scored else None, medians, mistake)

    def status_counts(self, function: str) -> Counter[str]:
        """Return how many graded students have each status in a function."""
        return Counter(student.statuses[function] for student in self.graded if function in student.statuses)

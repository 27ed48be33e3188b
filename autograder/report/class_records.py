"""What a class knows, as plain records: a line per student with a letter per function, a line per check.

`course/insight.py` adds them up from the result documents; the terminal and the page are views of them.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from autograder.results import STATUSES

# A student's line holds one letter per function; "-" where there is no result.
LETTERS = dict(zip(STATUSES, "pfetnb", strict=True))
NO_RESULT = "-"
BINS = 20


@dataclass
class CheckRecord:
    """One check over the class."""

    id: str
    function: str
    title: str
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """How many submissions it ran on, whatever came of it."""
        return self.statuses.total()

    @property
    def passed(self) -> float:
        """The share of submissions that pass it."""
        return self.statuses["passed"] / self.tried if self.tried else 0.0


@dataclass
class MistakeRecord:
    """One named mistake over the class."""

    id: str
    title: str
    function: str
    hint: str
    students: list[int] = field(default_factory=list)


@dataclass
class StudentRecord:
    """One line of the table. `letters` follows the order of the class's functions."""

    name: str
    id: str
    submission: str
    status: str
    reason: str
    score: float
    out_of: float
    late_days: int
    seconds: float
    file: str | None
    notes: list[str] = field(default_factory=list)  # what was ruled, and what an instructor should know
    letters: str = ""
    mistakes: list[int] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The score as a part of what can be had."""
        return self.score / self.out_of if self.out_of else 0.0


@dataclass
class ClassRecords:
    """The class in numbers.

    Attributes:
        functions: qualified names in course order.
        checks: by id, in course order.
        mistakes: the commonest first.
        slowest: (seconds, student, function, check), the slowest first; without those out of time or not begun.
        timeouts: (student, function, check).
        timed_out: how many checks ran out of time; `timeouts` lists the first.
        unread: students whose work could not be read or graded.
    """

    title: str
    assignments: list[dict[str, Any]]
    functions: list[str] = field(default_factory=list)
    students: list[StudentRecord] = field(default_factory=list)
    checks: dict[str, CheckRecord] = field(default_factory=dict)
    mistakes: list[MistakeRecord] = field(default_factory=list)
    slowest: list[tuple[float, int, str, str]] = field(default_factory=list)
    timeouts: list[tuple[int, str, str]] = field(default_factory=list)
    timed_out: int = 0
    seconds: float = 0.0
    seed: int = 0

    @property
    def graded(self) -> list[StudentRecord]:
        """Students with a result."""
        return [student for student in self.students if student.status == "graded"]

    @property
    def scored(self) -> list[StudentRecord]:
        """Those of them who have a score: not who is excused from everything."""
        return [student for student in self.graded if student.out_of]

    @property
    def unread(self) -> list[StudentRecord]:
        """Students whose work could not be graded."""
        return [student for student in self.students if student.status not in ("graded", "missing")]

    @property
    def missing(self) -> list[StudentRecord]:
        """Students of whom there is no work."""
        return [student for student in self.students if student.status == "missing"]

    def histogram(self) -> list[int]:
        """How many students have a score in each of the equal parts from 0 to 100 %; more counts as 100."""
        counts = [0] * BINS
        for student in self.scored:
            counts[min(BINS - 1, max(0, int(student.share * BINS)))] += 1
        return counts

    def of_function(self, function: str) -> Counter[str]:
        """How many students have each status in a function."""
        index = self.functions.index(function)
        names = {letter: status for status, letter in LETTERS.items()}
        letters = Counter(student.letters[index] for student in self.graded if index < len(student.letters))
        return Counter({names[letter]: count for letter, count in letters.items() if letter in names})

"""`class.json`: the class in one document, `headway.class/1`, from which every gradebook and report is made."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from autograder.classroom import scoring
from autograder.classroom.exporters import csv_cells
from autograder.classroom.policy import Policy, PolicyException
from autograder.classroom.result_store import JournalEntry, file_name
from autograder.classroom.submissions.model import Attempt, ClassMember
from autograder.core.files import write_atomically
from autograder.core.text import clean
from autograder.core.versions import versions
from autograder.curriculum import Curriculum
from autograder.report.student_feedback import student_exception_lines

SCHEMA = "headway.class/1"
CLASS, TABLE = "class.json", "grades.csv"


@dataclasses.dataclass
class GradedClass:
    """A class while it is graded: who is in it, and how it is scored."""

    students: list[ClassMember]
    policy: Policy
    curriculum: Curriculum
    modules: tuple[str, ...]  # the assignments that are graded
    seed: int
    title: str = ""
    seconds: float = 0.0
    rulings: Mapping[str, list[PolicyException]] = dataclasses.field(default_factory=dict)  # by submission

    def files_of(self, student: ClassMember) -> list[tuple[int, Attempt, str]]:
        """The attempts to grade under the policy, counted from 1, each with the name of its document."""
        numbered = list(enumerate(student.attempts, start=1))
        if not numbered:
            return []
        if self.policy.attempts == "best":
            several = len(numbered) > 1
            return [(n, one, file_name(student.submission, n if several else 0)) for n, one in numbered]
        number, attempt = numbered[0 if self.policy.attempts == "first" else -1]
        return [(number, attempt, file_name(student.submission))]

    def document(self, entries: Mapping[str, JournalEntry]) -> dict[str, Any]:
        """The document, as far as there are results."""
        course = self.course(entries)
        return {
            "schema": SCHEMA,
            "kit": versions(),
            "seed": self.seed,
            "course": {"title": self.title, "policy": msgspec.to_builtins(self.policy)},
            "assignments": [
                {
                    "name": one.name,
                    "title": one.title,
                    "possible": _points(one.possible),
                    "weight": _points(one.weight),
                    "due": one.due.isoformat() if one.due else None,
                }
                for one in course
            ],
            "students": [self._student(student, course, entries) for student in self.students],
            "seconds": round(self.seconds, 3),
        }

    def course(self, entries: Mapping[str, JournalEntry]) -> list[scoring.GradedAssignment]:
        """The assignments, with the points that the checks of this run give; what others left behind is not asked."""
        points = dict.fromkeys(self.modules, 0.0)
        ours = {file for student in self.students for _, _, file in self.files_of(student)}
        for entry in (entry for file, entry in entries.items() if file in ours):
            for name, possible in entry.possible.items():
                if name in points:
                    points[name] = max(points[name], possible)
        titles = {name: self.curriculum.modules[name].title for name in self.modules}
        return scoring.graded_assignments(self.policy, {name: (titles[name], points[name]) for name in self.modules})

    def _student(
        self, student: ClassMember, course: list[scoring.GradedAssignment], entries: Mapping[str, JournalEntry]
    ) -> dict[str, Any]:
        number, attempt, entry, total = self.best(student, course, entries)
        status = "missing" if attempt is None else "waiting" if entry is None else entry.status
        reason = entry.reason if entry else "nothing was handed in" if attempt is None else ""
        when: datetime | None = attempt.submitted_at() if attempt else None
        return {
            "name": student.name or student.submission,
            "id": student.id,
            "email": student.email,
            "roster": student.roster,
            "submission": student.submission,
            "status": status,
            "reason": reason,
            "file": f"results/{entry.file}" if entry and entry.bytes else None,
            "notes": [*student.notes, *(entry.notes if entry else [])],
            "attempt": number,
            "attempts": len(student.attempts),
            "submitted_at": when.isoformat() if when else None,
            "late_days": total.late_days,
            "earned": _points(total.earned),
            "possible": _points(total.possible),
            "penalty": _points(total.penalty),
            "dropped": list(total.dropped),
            "score": _points(total.score),
            "out_of": _points(total.out_of),
            "statuses": entry.statuses if entry else {},
            "seconds": entry.seconds if entry else 0.0,
            "assignments": {
                name: {
                    "earned": _points(grade.earned),
                    "possible": _points(grade.possible),
                    "score": _points(grade.score),
                    "late_days": grade.late_days,
                    "penalty": _points(grade.penalty),
                    "excused": grade.excused,
                    "by_hand": grade.by_hand,
                    "ruling": clean(grade.exception, 400),
                }
                for name, grade in total.assignments.items()
            },
        }

    def best(
        self, student: ClassMember, course: list[scoring.GradedAssignment], entries: Mapping[str, JournalEntry]
    ) -> tuple[int, Attempt | None, JournalEntry | None, scoring.StudentScore]:
        """The attempt that counts: of those that are graded the one with the highest score, the later if equal."""
        ruled = self.rulings.get(student.submission, [])
        nothing = scoring.student_score(course, {}, self.policy, None, ruled)
        chosen: tuple[int, Attempt | None, JournalEntry | None, scoring.StudentScore] = (0, None, None, nothing)
        for number, attempt, file in self.files_of(student):
            entry = entries.get(file)
            total = scoring.student_score(course, entry.points if entry else {}, self.policy, attempt, ruled)
            if chosen[2] is None or (entry is not None and total.score >= chosen[3].score):
                chosen = (number, attempt, entry, total)
        return chosen


def _points(value: float) -> float:
    return round(value, 6)


def write(out: Path, document: dict[str, Any]) -> None:
    """Write `class.json`, whole or not at all."""
    write_atomically(out / CLASS, (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace"))


def write_csv(out: Path, document: dict[str, Any], entries: Mapping[str, JournalEntry]) -> None:
    """The class table: a line per submission, points by assignment, a note."""
    modules = [one["name"] for one in document["assignments"]]
    columns = ["submission", "name", "points", "possible", *modules, "score", "out_of", "status", "late_days"]
    rows = [[*columns, "seed", "sandbox", "note"]]
    for student in document["students"]:
        entry = entries.get((student["file"] or "").removeprefix("results/"))
        points = [f"{student['assignments'][module]['earned']:g}" for module in modules]
        scores = [f"{student['earned']:g}", f"{student['possible']:g}", *points]
        scores += [f"{student['score']:g}", f"{student['out_of']:g}", student["status"], str(student["late_days"])]
        notes = [student["reason"], *(note for note in student["notes"] if note not in student["reason"])]
        notes += student_exception_lines(student)
        sandbox = "+".join(entry.sandbox) if entry else ""
        note = csv_cells.text("; ".join(note for note in notes if note))
        names = [csv_cells.text(student["submission"]), csv_cells.text(student["name"])]
        rows.append([*names, *scores, str(document["seed"]), sandbox, note])
    csv_cells.write(out / TABLE, rows)

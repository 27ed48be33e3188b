"""Write `class.json` (schema `headway.class/3`), from which every gradebook and report is made, and `grades.csv`."""

import dataclasses
import datetime
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from autograder.classroom import scoring
from autograder.classroom.exporters import csv_cells
from autograder.classroom.manual_points import ManualPoints, RubricPoints
from autograder.classroom.policy import Policy, PolicyException, RubricItem
from autograder.classroom.result_store import JournalEntry, file_name
from autograder.classroom.submissions.model import Attempt, ClassMember
from autograder.core.files import write_atomically
from autograder.core.text import clean
from autograder.core.versions import versions
from autograder.curriculum import Curriculum
from autograder.documents import CLASS_SCHEMA
from autograder.report.student_feedback import student_exception_lines


@dataclasses.dataclass
class GradedClass:
    """A class while it is graded: its students and how their submissions are scored."""

    students: list[ClassMember]
    policy: Policy
    curriculum: Curriculum
    modules: tuple[str, ...]  # the graded assignments
    seed: int
    seconds: float = 0.0
    exceptions: Mapping[str, list[PolicyException]] = dataclasses.field(default_factory=dict)  # by submission
    manual: Mapping[str, Mapping[str, ManualPoints]] = dataclasses.field(default_factory=dict)  # by submission
    comments: Mapping[str, list[dict[str, str]]] = dataclasses.field(default_factory=dict)  # by submission
    # By submission, how many attempts were not graded in this run because the student's CPU time was used up.
    left_out: Counter[str] = dataclasses.field(default_factory=Counter)

    def files_of(self, student: ClassMember) -> list[tuple[int, Attempt, str]]:
        """Return the attempts that the policy grades: number (from 1), attempt, name of the result document."""
        numbered = list(enumerate(student.attempts, start=1))[-self._most_attempts(student) :]
        if self.policy.attempts == "best" and len(numbered) > 1:
            return [(number, attempt, file_name(student.submission, number)) for number, attempt in numbered]
        graded = numbered[:1] if self.policy.attempts == "first" else numbered[-1:]
        return [(number, attempt, file_name(student.submission)) for number, attempt in graded]

    def _most_attempts(self, student: ClassMember) -> int:
        """Return how many attempts of a student may be graded; only attempts = "best" grades more than one."""
        return self.policy.limits.student_attempts if self.policy.attempts == "best" else len(student.attempts)

    def _limit_note(self, student: ClassMember) -> str:
        """Return the line that says that attempts were not graded because of the student's limits, or ''."""
        too_many = max(0, len(student.attempts) - self._most_attempts(student))
        if not (count := too_many + self.left_out[student.submission]):
            return ""
        limits, total = self.policy.limits, len(student.attempts)
        limit = f"{limits.student_attempts} attempts and {limits.student_seconds:g} s of CPU time in one run"
        were = "was" if count == 1 else "were"
        return (
            f"{count} of {total} attempts {were} not graded. The limit of a student is {limit}, newest attempts first"
        )

    def document(self, entries: Mapping[str, JournalEntry]) -> dict[str, Any]:
        """Return the class document for the results that exist so far."""
        assignments = self.assignments(entries)
        return {
            "schema": CLASS_SCHEMA,
            "versions": versions(),
            "seed": self.seed,
            "course": {"title": self.policy.title, "policy": msgspec.to_builtins(self.policy)},
            "assignments": [
                {
                    "name": assignment.name,
                    "title": assignment.title,
                    "possible": round(assignment.possible, 6),
                    "weight": round(assignment.weight, 6),
                    "due": assignment.due.isoformat() if assignment.due else None,
                }
                for assignment in assignments
            ],
            "students": [self._student(student, assignments, entries) for student in self.students],
            "seconds": round(self.seconds, 3),
        }

    def assignments(self, entries: Mapping[str, JournalEntry]) -> list[scoring.GradedAssignment]:
        """Return the assignments with their possible points, read from the results of this class's students only."""
        points: dict[str, float] = {}
        files = {file for student in self.students for _, _, file in self.files_of(student)}
        for entry in (entry for file, entry in entries.items() if file in files):
            for name, (_, possible) in entry.functions.items():
                points[name] = max(points.get(name, 0.0), possible)
        return scoring.graded_assignments(self.policy, self.curriculum, self.modules, points)

    def _student(
        self, student: ClassMember, assignments: list[scoring.GradedAssignment], entries: Mapping[str, JournalEntry]
    ) -> dict[str, Any]:
        number, attempt, entry, score = self.best_attempt(student, assignments, entries)
        file = f"results/{entry.file}" if entry and entry.bytes else None
        status = "missing" if attempt is None else "waiting" if entry is None else entry.status
        reason = entry.reason if entry else "no submission" if attempt is None else ""
        limit_note = self._limit_note(student)
        others = ((other, entries.get(file)) for other, _, file in self.files_of(student) if other != number)
        failed = [f"attempt {other}: {entry.reason}" for other, entry in others if entry and entry.status == "failed"]
        return {
            "name": student.name or student.submission,
            **{key: getattr(student, key) for key in ("id", "email", "roster", "submission")},
            "status": status,
            "reason": reason,
            "notes": [*student.notes, *filter(None, [limit_note]), *failed, *(entry.notes if entry else [])],
            "limit_note": limit_note,
            "late_days": score.late_days,
            **{key: round(getattr(score, key), 6) for key in ("earned", "possible", "penalty", "score", "out_of")},
            "percent": None if score.percent is None else round(score.percent, 6),
            "dropped": list(score.dropped),
            "comments": list(self.comments.get(student.submission, [])),
            "statuses": entry.statuses if entry else {},
            "seconds": entry.seconds if entry else 0.0,
            "assignments": {
                assignment.name: {
                    "status": status,
                    "reason": reason,
                    "file": file,
                    "attempt": number,
                    "attempts": len(student.attempts),
                    "submitted_at": _iso(attempt.submitted_at(assignment.name)) if attempt else None,
                    "late": attempt.late if attempt else None,
                    **_grade_record(assignment, score),
                }
                for assignment in assignments
            },
        }

    def best_attempt(
        self, student: ClassMember, assignments: list[scoring.GradedAssignment], entries: Mapping[str, JournalEntry]
    ) -> tuple[int, Attempt | None, JournalEntry | None, scoring.StudentScore]:
        """Return the attempt that counts: the graded one with the highest score, the latest of several; 0 for none."""
        exceptions = self.exceptions.get(student.submission, [])
        manual = self.manual.get(student.submission, {})
        score = scoring.student_score(assignments, {}, self.policy, exceptions, manual)
        best: tuple[int, Attempt | None, JournalEntry | None, scoring.StudentScore] = (0, None, None, score)
        for number, attempt, file in self.files_of(student):
            entry = entries.get(file)
            work = {one.name: _work(attempt, entry, one.name) for one in assignments}
            score = scoring.student_score(assignments, work, self.policy, exceptions, manual)
            if best[2] is None or (entry is not None and (score.percent or 0.0) >= (best[3].percent or 0.0)):
                best = (number, attempt, entry, score)
        return best


def _work(attempt: Attempt, entry: JournalEntry | None, assignment: str) -> scoring.AssignmentWork:
    return scoring.AssignmentWork(entry.functions if entry else {}, attempt.submitted_at(assignment), attempt.late)


def _grade_record(assignment: scoring.GradedAssignment, student: scoring.StudentScore) -> dict[str, Any]:
    """Return how the points of one assignment become its score."""
    score = student.assignments[assignment.name]
    return {
        **{key: round(getattr(score, key), 6) for key in ("earned", "possible", "score", "penalty", "bonus")},
        **{key: getattr(score, key) for key in ("late_days", "excused", "by_hand")},
        "counts": student.counts[assignment.name],
        "exception": clean(score.exception, 400),
        "rubric": [_rubric_record(item, score.rubric.get(item.id)) for item in assignment.rubric],
        "adjustments": [
            {**dataclasses.asdict(adjustment), "text": clean(adjustment.text, 400)} for adjustment in score.adjustments
        ],
    }


def _rubric_record(item: RubricItem, given: RubricPoints | None) -> dict[str, Any]:
    return {
        "id": item.id,
        "title": item.title,
        "points": item.points,
        "earned": min(given.points, item.points) if given else None,
        "comment": clean(given.comment, 2000) if given else "",
    }


def _iso(time: datetime.datetime | None) -> str | None:
    return time.isoformat() if time else None


def write(out: Path, document: dict[str, Any]) -> None:
    """Write `class.json` atomically."""
    content = (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    write_atomically(out / "class.json", content, durable=True)


def write_csv(out: Path, document: dict[str, Any], entries: Mapping[str, JournalEntry]) -> None:
    """Write the table of grades: one row per submission with points by assignment, status and notes."""
    modules = [assignment["name"] for assignment in document["assignments"]]
    columns = ["submission", "name", "points", "possible", *modules, "score", "out_of", "status", "late_days"]
    rows = [[*columns, "seed", "sandbox", "note"]]
    for student in document["students"]:
        files = dict.fromkeys(grade["file"] or "" for grade in student["assignments"].values())
        results = [entry for file in files if (entry := entries.get(file.removeprefix("results/")))]
        sandbox = dict.fromkeys(mechanism for entry in results for mechanism in entry.sandbox)
        by_module = [student["assignments"][module]["earned"] for module in modules]
        points = [student["earned"], student["possible"], *by_module, student["score"], student["out_of"]]
        notes = [student["reason"], *(note for note in student["notes"] if note not in student["reason"])]
        note = csv_cells.text("; ".join(filter(None, [*notes, *student_exception_lines(student)])))
        names = [csv_cells.text(student["submission"]), csv_cells.text(student["name"])]
        cells = [*names, *(f"{value:g}" for value in points), student["status"], str(student["late_days"])]
        rows.append([*cells, str(document["seed"]), "+".join(sandbox), note])
    csv_cells.write(out / "grades.csv", rows, durable=True)

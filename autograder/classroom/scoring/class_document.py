"""Write `class.json` (schema `headway.class/1`), from which every gradebook and report is made, and `grades.csv`."""

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from autograder.classroom.policy.model import Policy, PolicyException, RubricItem
from autograder.classroom.scoring.student_scores import (
    AssignmentWork,
    GradedAssignment,
    RubricPoints,
    StudentDecisions,
    StudentScore,
    graded_assignments,
    student_score,
)
from autograder.classroom.storage.result_store import JournalEntry, file_name
from autograder.classroom.submissions.model import Attempt, ClassMember, Source, Student
from autograder.core.files import write_atomically
from autograder.core.text import clean
from autograder.core.versions import versions
from autograder.course import Curriculum
from autograder.documents.reading import CLASS_SCHEMA, Document
from autograder.documents.statuses import SubmissionStatus
from autograder.documents.types import (
    ClassDocument,
    GradeRecord,
    OpenQuestion,
    QuestionKind,
    RubricRecord,
    StudentDocument,
)


@dataclasses.dataclass(frozen=True)
class AttemptFile:
    """An attempt that the policy grades."""

    number: int  # from 1
    attempts: int  # of the same student in the same source
    attempt: Attempt
    file: str  # name of the result document
    entry: JournalEntry | None  # what is stored of its result


@dataclasses.dataclass
class GradedClass:
    """A class while it is graded: its sources and students, and how their submissions are scored."""

    sources: list[Source]
    students: list[Student]
    policy: Policy
    curriculum: Curriculum
    seed: int
    entries: Mapping[str, JournalEntry] = dataclasses.field(default_factory=dict)  # the results so far, by file
    exceptions: Mapping[str, list[PolicyException]] = dataclasses.field(default_factory=dict)  # by submission
    decisions: Mapping[str, StudentDecisions] = dataclasses.field(default_factory=dict)  # by submission
    unclear: Sequence[str] = ()  # what is wrong with exceptions that name no student
    # By student, how many attempts were not graded in this run because the student's CPU time was used up.
    left_out: Counter[str] = dataclasses.field(default_factory=Counter)

    @property
    def modules(self) -> tuple[str, ...]:
        """The graded assignments in course order; those that the policy does not name do not count."""
        found = {assignment for source in self.sources for assignment in source.assignments}
        counted_ones = found & (self.policy.assignments.keys() or found)
        return tuple(name for name in self.curriculum.modules if name in counted_ones)

    def files_of(self, source: Source, member: ClassMember) -> list[AttemptFile]:
        """Return the attempts in one source that the policy grades."""
        graded = list(enumerate(member.attempts, start=1))[-self._most_attempts(member) :]
        are_compared = self.policy.attempts == "best" and len(graded) > 1
        if not are_compared:
            graded = graded[:1] if self.policy.attempts == "first" else graded[-1:]
        found = []
        for number, attempt in graded:
            file = file_name(member.submission, number if are_compared else 0, source.name)
            found.append(AttemptFile(number, len(member.attempts), attempt, file, self.entries.get(file)))
        return found

    def files_of_source(self, source: Source) -> Iterator[AttemptFile]:
        """Yield the attempts of all students in one source that the policy grades."""
        for student in self.students:
            if member := student.work.get(source.name):
                yield from self.files_of(source, member)

    def _most_attempts(self, member: ClassMember) -> int:
        """Return how many attempts of a student may be graded; only attempts = "best" grades more than one."""
        return self.policy.limits.student_attempts if self.policy.attempts == "best" else len(member.attempts)

    def _limit_note(self, student: Student) -> str:
        """Return the line that says that attempts were not graded because of the student's limits, or ''."""
        too_many = sum(max(0, len(member.attempts) - self._most_attempts(member)) for member in student.work.values())
        if not (count := too_many + self.left_out[student.submission]):
            return ""
        limits, total = self.policy.limits, student.attempts
        limit = f"{limits.student_attempts} attempts and {limits.student_seconds:g} s of CPU time in one run"
        left = f"{count} of {total} attempts {'was' if count == 1 else 'were'} not graded"
        return f"{left}. The limit of a student is {limit}, newest attempts first"

    def document(self, seconds: float = 0.0) -> ClassDocument:
        """Return the class document for the results that exist so far; the run has taken some `seconds`."""
        assignments = self.assignments()
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
            "students": [self.student_document(student, assignments) for student in self.students],
            "open": [question("exception", reason=text) for text in self.unclear],
            "seconds": round(seconds, 3),
        }

    def assignments(self) -> list[GradedAssignment]:
        """Return the assignments with their possible points, read from the results of this class's students only."""
        points: dict[str, float] = {}
        for source in self.sources:
            for graded in self.files_of_source(source):
                for name, (_, possible) in graded.entry.functions.items() if graded.entry else ():
                    points[name] = max(points.get(name, 0.0), possible)
        not_begun = self.not_begun()
        counted = [name for name in self.modules if name not in not_begun]
        return graded_assignments(self.policy, self.curriculum, counted, points)

    def not_begun(self) -> list[str]:
        """Return the assignments that do not count because no student began them.

        There are none if the policy, `--assignment` or `--source` names the assignments.
        """
        whole = [source for source in self.sources if len(source.functions) == len(self.curriculum.functions)]
        if self.policy.assignments or not whole:
            return []
        graded = [one.entry for one in self.files_of_source(whole[0]) if one.entry]
        begun = {name for name in whole[0].assignments for entry in graded if entry.has_begun(name)}
        return [name for name in whole[0].assignments if name not in begun] if begun else []

    def student_document(self, student: Student, assignments: list[GradedAssignment]) -> StudentDocument:
        """Return the entry of one student in the class document."""
        counting = self._counting_attempts(student, assignments)
        exceptions = self.exceptions.get(student.submission, [])
        decided = self.decisions.get(student.submission, StudentDecisions())
        score = student_score(assignments, _works(assignments, counting), self.policy, exceptions, decided.manual)
        records = {one.name: _grade_record(one, counting.get(one.name), score) for one in assignments}
        status, reason = _overall_status(records.values())
        results = {name: one.entry for name, one in counting.items() if one.entry}
        statuses = Counter[str]()
        for name, entry in results.items():
            statuses.update(entry.checks.get(name, {}))
        limit_note = self._limit_note(student)
        questions = open_questions(student.notes, records, results, decided)
        return {
            "name": student.name or student.submission, "id": student.id, "email": student.email, "ids": student.ids,
            "section": student.section, "ta": student.ta, "roster": student.roster, "submission": student.submission,
            "status": status, "reason": reason, "limit_note": limit_note, "late_days": score.late_days,
            "notes": [*student.notes, *filter(None, [limit_note]), *self._notes(student, counting)],
            "earned": round(score.earned, 6), "possible": round(score.possible, 6), "penalty": round(score.penalty, 6),
            "score": round(score.score, 6), "out_of": round(score.out_of, 6), "dropped": list(score.dropped),
            "percent": None if score.percent is None else round(score.percent, 6), "statuses": dict(statuses),
            "comments": decided.comments, "assignments": records, "open": questions,
            "seconds": round(sum({one.file: one.seconds for one in results.values()}.values()), 6),
        }  # fmt: skip

    def _notes(self, student: Student, counting: Mapping[str, AttemptFile]) -> Iterator[str]:
        """Yield the notes on a student's submissions, with the source if there are several."""
        for source in self.sources:
            member = student.work.get(source.name)
            chosen = next((counting[name] for name in source.assignments if name in counting), None)
            if member is None or chosen is None:
                continue
            where = f"{source.name}: " if source.name and len(self.sources) > 1 else ""
            for graded in self.files_of(source, member):
                if graded.entry and graded.entry.status == "failed" and graded.number != chosen.number:
                    yield f"{where}attempt {graded.number}: {graded.entry.reason}"
            if chosen.entry:
                if where and chosen.entry.status != "graded":
                    yield f"{where}{chosen.entry.reason}"
                yield from (f"{where}{note}" for note in chosen.entry.notes)

    def _counting_attempts(self, student: Student, assignments: Sequence[GradedAssignment]) -> dict[str, AttemptFile]:
        """Return the attempt that counts for each assignment that has one."""
        counting: dict[str, AttemptFile] = {}
        for source in self.sources:
            own = [assignment for assignment in assignments if assignment.name in source.assignments]
            member = student.work.get(source.name)
            if own and member and (attempts := self.files_of(source, member)):
                best = self._best_attempt(student, attempts, own)
                counting.update(dict.fromkeys((assignment.name for assignment in own), best))
        return counting

    def _best_attempt(
        self, student: Student, attempts: Sequence[AttemptFile], assignments: Sequence[GradedAssignment]
    ) -> AttemptFile:
        """Return the graded attempt with the highest score in the assignments of its source, the latest of several."""
        if len(attempts) == 1:
            return attempts[0]
        exceptions = self.exceptions.get(student.submission, [])
        policy = replace(self.policy, late=replace(self.policy.late, bank=0), replace_lowest_by="")

        def percent(one: AttemptFile) -> float:
            works = _works(assignments, dict.fromkeys((assignment.name for assignment in assignments), one))
            return student_score(assignments, works, policy, exceptions).percent or 0.0

        return max((one for one in reversed(attempts) if one.entry), key=percent, default=attempts[0])


def _works(assignments: Iterable[GradedAssignment], counting: Mapping[str, AttemptFile]) -> dict[str, AssignmentWork]:
    works = {}
    for assignment in assignments:
        one = counting.get(assignment.name)
        if one and one.attempt.includes(assignment.name):
            functions = one.entry.functions if one.entry else {}
            submitted_at = one.attempt.submitted_at(assignment.name)
            if submitted_at is None and one.attempt.late_by is not None and assignment.due is not None:
                submitted_at = assignment.due + one.attempt.late_by
            works[assignment.name] = AssignmentWork(functions, submitted_at, one.attempt.late)
    return works


def _overall_status(records: Iterable[GradeRecord]) -> tuple[SubmissionStatus, str]:
    """Return a student's status, and the reason: graded if any assignment is."""
    order: tuple[SubmissionStatus, ...] = ("graded", "failed", "waiting", "unreadable", "missing")
    found = ((status, record["reason"]) for status in order for record in records if record["status"] == status)
    return next(found, ("missing", "no submission"))


def _grade_record(assignment: GradedAssignment, counting: AttemptFile | None, student: StudentScore) -> GradeRecord:
    """Return the attempt that counts for one assignment, and how its points become the score."""
    name, score = assignment.name, student.assignments[assignment.name]
    graded = counting if counting and counting.attempt.includes(name) else None
    attempt, entry = (graded.attempt, graded.entry) if graded else (None, None)
    record: GradeRecord = {
        "status": entry.status if entry else "waiting" if attempt else "missing",
        "reason": entry.reason if entry else "" if attempt else "no submission",
        "file": f"results/{entry.file}" if entry and entry.bytes else None,
        "graded_file": entry.files.get(name, "") if entry else "",
        "attempt": graded.number if graded else 0, "attempts": graded.attempts if graded else 0,
        "submitted_at": time.isoformat() if attempt and (time := attempt.submitted_at(name)) else None,
        "late": attempt.late if attempt else None, "late_days": score.late_days, "bank_days": score.bank_days,
        "penalty": round(score.penalty, 6), "replaced_by": score.replaced_by,
        "earned": round(score.earned, 6), "possible": round(score.possible, 6), "score": round(score.score, 6),
        "bonus": round(score.bonus, 6), "counts": student.counts[name], "excused": score.excused,
        "by_hand": score.by_hand,
        "exception": clean(score.exception, 400),
        "rubric": [_rubric_record(item, score.rubric.get(item.id)) for item in assignment.rubric],
        "adjustments": list(score.adjustments),
    }  # fmt: skip
    if attempt and (upload_name := attempt.upload_name(record["graded_file"])):
        record["upload_name"] = upload_name
    return record


def _rubric_record(item: RubricItem, given: RubricPoints | None) -> RubricRecord:
    earned, comment = (given.points, clean(given.comment, 2000)) if given else (None, "")
    return {"id": item.id, "title": item.title, "points": item.points, "earned": earned, "comment": comment}


def open_questions(
    notes: Iterable[str],
    grades: Mapping[str, GradeRecord],
    entries: Mapping[str, JournalEntry],
    decided: StudentDecisions,
) -> list[OpenQuestion]:
    """Return what a person should decide or look at before the grades of a student count.

    Args:
        notes: what is unclear about who the student is.
        entries: what is stored of the attempt that counts, by assignment that has a result.
        decided: what was decided already; a later run grades the files that were chosen.
    """
    about_student = (question("identity", reason=note) for note in notes)
    questions = [*about_student, *_about_grades(grades, entries, decided.chosen), *_about_files(grades, entries)]
    questions += [question("request", name, (), asks, id) for name, asks, id in decided.requests]
    return [one for one in questions if one["id"] not in decided.settled]


def _about_grades(
    grades: Mapping[str, GradeRecord], entries: Mapping[str, JournalEntry], chosen: Mapping[str, str]
) -> Iterator[OpenQuestion]:
    asked = {name: grade for name, grade in grades.items() if not (grade["excused"] or grade["by_hand"])}
    unreadable: dict[str, list[str]] = {}  # assignments by the reason, which is one for the whole submission
    for name, grade in asked.items():
        if grade["status"] == "unreadable":
            unreadable.setdefault(grade["reason"], []).append(name)
    for reason, names in unreadable.items():
        yield question("unreadable", names[0] if len(names) == 1 else "", reason=reason)
    for name, grade in asked.items():
        if grade["status"] in ("waiting", "failed"):
            yield question("no_result", name, reason=grade["reason"])
        elif (entry := entries.get(name)) and (files := entry.rivals.get(name)) and chosen.get(name) != files[0]:
            if chosen.get(name) in files:
                yield question("chosen", name, [chosen[name], files[0]])
            else:
                yield question("versions", name, files, ", ".join(entry.differing.get(name, ())), entry.digest)
        elif entry and set(entry.checks.get(name, ())) == {"error"}:
            reason = f"every check of {entry.files.get(name, name)} ends in an error"
            yield question("unreadable", name, (), reason, entry.digest)


def _about_files(grades: Mapping[str, GradeRecord], entries: Mapping[str, JournalEntry]) -> Iterator[OpenQuestion]:
    """Yield questions about submissions in which nothing is written, and about work for another assignment."""
    names_by_entry: dict[str, list[str]] = {}
    for name, entry in entries.items():
        if entry.status == "graded" and grades[name]["status"] == "graded":
            names_by_entry.setdefault(entry.file, []).append(name)
    for names in names_by_entry.values():
        entry, only = entries[names[0]], names[0] if len(names) == 1 else ""
        if entry.unreadable:
            reason = f"not read: {', '.join(entry.unreadable)}"
            yield question("unreadable", only, entry.unreadable, reason, entry.digest)
        others = {name: file for name, file in entry.files.items() if name not in names}
        if not any(entry.has_begun(name) or grades[name]["by_hand"] for name in names):
            own = ", ".join(dict.fromkeys(file for name, file in entry.files.items() if name in names))
            yield question("nothing_written", only, list(others.values()), own, entry.digest)
            continue
        for name, file in others.items():
            if name in grades and grades[name]["status"] == "missing":
                yield question("elsewhere", name, [file], digest=entry.digest)


def question(
    kind: QuestionKind, assignment: str = "", files: Iterable[str] = (), reason: str = "", digest: str = ""
) -> OpenQuestion:
    """Return a question; its id changes with the `digest` of the submitted files, so that a decision is about them."""
    names, reason = list(files), clean(reason, 400)
    about = repr((kind, assignment, names, reason, digest))
    key = hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()[:8]
    return {"id": key, "kind": kind, "assignment": assignment, "files": names, "reason": reason}


def write(out: Path, document: Document) -> None:
    """Write `class.json` atomically."""
    content = (json.dumps(document, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    write_atomically(out / "class.json", content, durable=True)
